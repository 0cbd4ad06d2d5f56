import type { ConfigFile } from "../config/file/config-file.ts";
import { sourcesOf } from "../config/sources.ts";
import { sendRequest } from "../lib/send-request.ts";
import {
  type AddressList,
  type AddressLists,
  createAddressLists,
  MAX_LIST_BYTES,
  openAddressCopies,
  readListFile,
} from "../webhook/addresses/address-lists.ts";
import { createKeySets, freshMsOf, type KeySets, keySetsOf, openKeySetCopies } from "../webhook/signature/key-sets.ts";
import type { Source } from "../webhook/source.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

/**
 * Creates the lists of addresses of the sources. Their start waits until the lists without which deliveries would be
 * refused have been tried, ten seconds at most.
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

// The largest known one has some 10 KiB.
const MAX_SET_BYTES = 1024 * 1024;

/**
 * Creates the sets of public keys of the sources. Their start waits until those that were never read have been tried,
 * ten seconds at most.
 */
export function openKeySets({
  settings,
  config,
  stores,
  log,
}: Wiring): Part & Pick<KeySets, "withKeys" | "renew" | "isMissing"> {
  const sets = createKeySets({
    async read({ place }, signal) {
      const { text, cacheControl } = await fetchDocument(place, MAX_SET_BYTES, signal);
      return { text, freshMs: freshMsOf(cacheControl) };
    },
    copies: openKeySetCopies(settings.DATA_DIR),
    log,
    now: stores.now,
  });
  const setsOf = (file: ConfigFile | null) => sourcesOf(settings, file).flatMap(keySetsOf);
  const apply = (file: ConfigFile | null) => sets.apply(setsOf(file));
  return {
    ...sets,
    apply,
    start() {
      apply(config.current);
      sets.start();
      return sets.tried(setsOf(config.current));
    },
  };
}

const TIMEOUT_MS = 10_000;

/** Fetches a document. Throws an error if the response is not 200 or has more than `maxBytes`. */
async function fetchDocument(
  url: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ text: string; cacheControl: string | undefined }> {
  const { status, headers, text, isCut } = await sendRequest({
    url,
    isLocal: false,
    timeoutMs: TIMEOUT_MS,
    signal,
    // GitHub refuses requests without it.
    headers: { "user-agent": "authserve" },
    maxBytes,
  });
  if (status !== 200) throw new Error(`the answer was ${status}, not 200`);
  if (isCut) throw new Error(`exceeds ${maxBytes / 1024 ** 2} MiB`);
  return { text, cacheControl: headers["cache-control"] };
}
