import type { ConfigFile } from "../config/file/config-file.ts";
import { sourcesOf } from "../config/sources.ts";
import { openAddressCopies } from "../webhook/addresses/address-copies.ts";
import { type AddressList, MAX_LIST_BYTES, readListFile } from "../webhook/addresses/address-list.ts";
import { type AddressLists, createAddressLists } from "../webhook/addresses/address-lists.ts";
import type { Source } from "../webhook/source.ts";
import type { Wiring } from "./configuration.ts";
import { fetchDocument } from "./fetch-document.ts";

/** The lists of addresses of the sources. */
export interface SourceAddresses extends Pick<AddressLists, "find" | "start" | "stop"> {
  /** Uses the lists of a configuration file that was read again. */
  apply(file: ConfigFile | null): void;
  /** Resolves when the lists without which deliveries would be refused have been tried, after ten seconds at the latest. */
  tried(): Promise<void>;
}

/** Begins to read the lists of all sources. */
export function openAddresses({ settings, config, stores, log }: Wiring): SourceAddresses {
  const copies = openAddressCopies(settings.DATA_DIR);
  const lists = createAddressLists({ read: readList, copies, log, now: stores.now });
  const listsOf = (sources: readonly Source[]) => sources.flatMap(({ addressLists }) => addressLists ?? []);
  const apply = (file: ConfigFile | null) => lists.apply(listsOf(sourcesOf(settings, file)));
  apply(config.current);
  return {
    ...lists,
    apply,
    tried() {
      const enforcing = sourcesOf(settings, config.current).filter(({ addressMode }) => addressMode === "enforce");
      return lists.tried(listsOf(enforcing));
    },
  };
}

async function readList({ kind, place }: AddressList, signal: AbortSignal): Promise<string> {
  return kind === "file" ? readListFile(place) : (await fetchDocument(place, MAX_LIST_BYTES, signal)).text;
}
