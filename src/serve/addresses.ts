import type { ConfigFile } from "../config/file/config-file.ts";
import { sourcesOf } from "../config/sources.ts";
import { openAddressCopies } from "../webhook/addresses/address-copies.ts";
import { type AddressList, MAX_LIST_BYTES, readListFile } from "../webhook/addresses/address-list.ts";
import { type AddressLists, createAddressLists } from "../webhook/addresses/address-lists.ts";
import type { Source } from "../webhook/source.ts";
import type { Wiring } from "./configuration.ts";
import { fetchDocument } from "./fetch-document.ts";
import type { Part } from "./parts.ts";

/**
 * Creates the lists of addresses of the sources. Their start waits until the lists without which deliveries would be refused have
 * been tried, ten seconds at most.
 */
export function openAddresses({ settings, config, stores, log }: Wiring): Part & Pick<AddressLists, "find"> {
  const copies = openAddressCopies(settings.DATA_DIR);
  const lists = createAddressLists({ read: readList, copies, log, now: stores.now });
  const listsOf = (sources: readonly Source[]) => sources.flatMap(({ addressLists }) => addressLists ?? []);
  const apply = (file: ConfigFile | null) => lists.apply(listsOf(sourcesOf(settings, file)));
  return {
    ...lists,
    apply,
    start() {
      apply(config.current);
      lists.start();
      const enforcing = sourcesOf(settings, config.current).filter(({ addressMode }) => addressMode === "enforce");
      return lists.tried(listsOf(enforcing));
    },
  };
}

async function readList({ kind, place }: AddressList, signal: AbortSignal): Promise<string> {
  return kind === "file" ? readListFile(place) : (await fetchDocument(place, MAX_LIST_BYTES, signal)).text;
}
