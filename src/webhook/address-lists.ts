import type { BlockList } from "node:net";
import { isIn } from "../lib/address-range.ts";
import { createRepeatedError, type RepeatedError } from "../lib/repeated-error.ts";
import { createWatchedFiles } from "../lib/watched-files.ts";
import type { Log } from "../log.ts";
import type { AddressCopies } from "./address-copies.ts";
import { type AddressList, parseAddressList, rangesOf } from "./address-list.ts";

/** The lists of addresses of a running server. */
export interface AddressLists {
  /** Whether an address is in one of these lists. `unknown`: it is in none, but one of them has never been read. */
  find(lists: readonly AddressList[], address: string): "listed" | "not listed" | "unknown";
  /** Uses these lists from now on, and reads each of them. Those that were in use before keep their addresses meanwhile. */
  apply(lists: readonly AddressList[]): void;
  /** Resolves when those of these lists that have no addresses yet were tried. */
  tried(lists: readonly AddressList[]): Promise<void>;
  /** Reads a file again whenever it changes. */
  start(): void;
  stop(): Promise<void>;
}

interface AddressListsOptions {
  /** Reads the text of a list. Ends with `signal`. */
  read(list: AddressList, signal: AbortSignal): Promise<string>;
  copies: AddressCopies;
  log: Log;
  now(): number;
}

/** A list in use. */
interface Entry {
  list: AddressList;
  /** The last good content; null if there never was one. */
  content: { addresses: readonly string[]; ranges: BlockList } | null;
  error: RepeatedError;
  /** How many tries have failed since the last success. */
  failures: number;
  /** Ends with the last try that has begun. */
  running: Promise<void>;
  timer: NodeJS.Timeout | undefined;
}

const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 15 * 60_000;

/** When a list is read again. After failures the wait doubles: some providers limit how often they are asked. */
export function nextReadMs(refreshMs: number, failures: number): number {
  if (failures === 0) return refreshMs;
  return Math.min(refreshMs, FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
}

/** Creates the lists. None is in use before `apply`. */
export function createAddressLists({ read, copies, log, now }: AddressListsOptions): AddressLists {
  let entries = new Map<string, Entry>();
  const stopping = new AbortController();
  const fileEntries = () => [...entries.values()].filter(({ list }) => list.kind === "file");
  const files = createWatchedFiles(() => fileEntries().map(({ list }) => list.place));
  let unwatch = () => {};

  function open(list: AddressList): Entry {
    const addresses = copies.read(list)?.addresses;
    const content = addresses === undefined ? null : { addresses, ranges: rangesOf(addresses) };
    const error = createRepeatedError();
    return { list, content, error, failures: 0, running: Promise.resolve(), timer: undefined };
  }

  /** Reads a list after the try that is under way, if any: that one may have read an older content. */
  function refresh(entry: Entry): void {
    entry.running = entry.running.then(async () => {
      await tryRead(entry);
      schedule(entry);
    });
  }

  function schedule(entry: Entry): void {
    const { list, failures } = entry;
    clearTimeout(entry.timer);
    if (stopping.signal.aborted || entries.get(list.id) !== entry) return;
    // The watch reads a file again.
    if (list.kind === "file" && failures === 0) return;
    entry.timer = setTimeout(() => refresh(entry), nextReadMs(list.refreshMs, failures)).unref();
  }

  async function tryRead(entry: Entry): Promise<void> {
    const { list, error } = entry;
    try {
      const addresses = parseAddressList(await read(list, stopping.signal), list.member);
      use(entry, addresses);
      await copies.write(list, { addresses, readAt: now() }).catch((cause: unknown) => {
        throw new Error("its copy in DATA_DIR cannot be written", { cause });
      });
      entry.failures = 0;
      error.clear();
    } catch (failure) {
      if (stopping.signal.aborted) return;
      entry.failures++;
      const news = error.news(failure);
      if (news !== null) log.warn({ event: "address_list_error", list: list.name, error: news }, effectOf(entry));
    }
  }

  function use(entry: Entry, addresses: readonly string[]): void {
    if (addresses.join() === entry.content?.addresses.join()) return;
    entry.content = { addresses, ranges: rangesOf(addresses) };
    const { name } = entry.list;
    log.info(
      { event: "address_list_changed", list: name, count: addresses.length },
      "the allowed addresses have changed",
    );
  }

  function refreshFiles(): void {
    // The state of the files is noted first, so that a change during the read is seen.
    files.reading(() => fileEntries().forEach(refresh));
  }

  return {
    find(lists, address) {
      const contents = lists.map(({ id }) => entries.get(id)?.content ?? null);
      if (contents.some((content) => content !== null && isIn(content.ranges, address))) return "listed";
      return contents.includes(null) ? "unknown" : "not listed";
    },
    apply(lists) {
      const before = entries;
      for (const { timer } of before.values()) clearTimeout(timer);
      entries = new Map();
      for (const list of lists) {
        const other = entries.get(list.id);
        const entry = other ?? before.get(list.id) ?? open(list);
        entry.list = other ? { ...list, refreshMs: Math.min(list.refreshMs, other.list.refreshMs) } : list;
        entries.set(list.id, entry);
      }
      refreshFiles();
      for (const entry of entries.values()) if (entry.list.kind === "url") refresh(entry);
    },
    async tried(lists) {
      const wanted = lists.flatMap(({ id }) => entries.get(id) ?? []);
      await Promise.all(wanted.filter(({ content }) => content === null).map(({ running }) => running));
    },
    start() {
      unwatch = files.watch(refreshFiles);
    },
    async stop() {
      unwatch();
      stopping.abort();
      for (const { timer } of entries.values()) clearTimeout(timer);
      await Promise.all([...entries.values()].map(({ running }) => running));
    },
  };
}

function effectOf({ content }: Entry): string {
  if (content) return "the last good list of addresses stays in use";
  return "there is no good list of addresses yet: sources that enforce it answer 503 to other addresses";
}
