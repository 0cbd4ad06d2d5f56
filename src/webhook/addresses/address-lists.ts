import { readFileSync, statSync } from "node:fs";
import type { BlockList } from "node:net";
import { systemCode } from "../../errors.ts";
import { blockListOf, isIn, parseRange } from "../../lib/address-range.ts";
import { parseStrictJson } from "../../lib/json.ts";
import type { Log } from "../../log.ts";
import { type DocumentCopies, openDocumentCopies } from "./document-copies.ts";
import { type FollowedDocument, type FollowedDocuments, followDocuments } from "./followed-documents.ts";

/** A list of addresses outside of the configuration file, as data. */
export interface AddressList extends FollowedDocument {
  /** The member of a JSON document with the addresses: names with dots between them. Empty: all of the document. */
  member: string;
}

/** Why a list cannot be used, to follow its name in a message. */
export class AddressListError extends Error {}

export const MAX_LIST_BYTES = 8 * 1024 * 1024;

// More take seconds to read, and hundreds of megabytes. The clouds publish up to 50,000.
const MAX_ADDRESSES = 100_000;

// Nobody sends from a wider range. A file that is cut within its last line may have one: "192.0.2.0/2".
const MIN_BITS = { ipv4: 8, ipv6: 16 };

/**
 * Reads the addresses and ranges of a list: the strings of a JSON document that are one, or the lines of a text, where
 * `#` begins a comment. Returns them in order, each once. Throws {@link AddressListError} if the list is wrong or has
 * none.
 */
export function parseAddressList(text: string, member: string): string[] {
  const content = text.replace(/^\uFEFF/, "");
  const isJson = member !== "" || /^\s*[[{]/.test(content);
  const addresses = [...new Set(isJson ? addressesInJson(content, member) : addressesInLines(content))].sort();
  if (addresses.length === 0) {
    throw new AddressListError(`has no address or range${member === "" ? "" : ` at ${member}`}`);
  }
  if (addresses.length > MAX_ADDRESSES) throw new AddressListError(`has more than ${MAX_ADDRESSES} addresses`);
  for (const address of addresses) {
    const range = parseRange(address);
    if (range && range.bits < MIN_BITS[range.family]) throw new AddressListError(`has ${address}, which is too wide`);
  }
  return addresses;
}

function addressesInLines(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const address = line.replace(/#.*/, "").trim();
    if (address === "") return [];
    if (parseRange(address) === null) {
      throw new AddressListError(`has neither an address nor a range in line ${index + 1}`);
    }
    return address;
  });
}

function addressesInJson(text: string, member: string): string[] {
  const parsed = parseStrictJson(Buffer.from(text));
  if (!parsed.ok) throw new AddressListError(parsed.reason);
  const found = membersAt(parsed.value, member === "" ? [] : member.split("."));
  return found.flatMap(stringsIn).filter((value) => parseRange(value) !== null);
}

/** The members at a path. A list stands for each of its items. */
function membersAt(value: unknown, path: readonly string[]): unknown[] {
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  if (Array.isArray(value)) return value.flatMap((item) => membersAt(item, path));
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return [];
  return membersAt((value as Record<string, unknown>)[name], rest);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** The addresses and ranges among some texts, for checks. */
export function rangesOf(addresses: readonly string[]): BlockList {
  return blockListOf(addresses.map(parseRange).filter((range) => range !== null));
}

/** The addresses in the file of a list, or why it cannot be used. */
export function addressesInFile({ place, member }: AddressList): string[] | AddressListError {
  try {
    return parseAddressList(readListFile(place), member);
  } catch (error) {
    if (error instanceof AddressListError) return error;
    throw error;
  }
}

/** Reads the text of a list's file. Throws {@link AddressListError} if that fails. */
export function readListFile(path: string): string {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw new AddressListError("is not a file");
    if (stats.size > MAX_LIST_BYTES) throw new AddressListError("exceeds 8 MiB");
    return readFileSync(path, "utf8");
  } catch (error) {
    throw error instanceof AddressListError ? error : new AddressListError(`cannot be read (${systemCode(error)})`);
  }
}

/** Keeps the last good content of lists. */
type AddressCopies = DocumentCopies<{ addresses: string[] }>;

/** Opens the copies in a data directory. */
export function openAddressCopies(dataDir: string): AddressCopies {
  return openDocumentCopies(dataDir, {
    folder: "address-lists",
    nameMember: "list",
    parse: (text) => ({ addresses: parseAddressList(text, "addresses") }),
    members: ({ addresses }) => ({ addresses }),
  });
}

/** The lists of addresses of a running server. */
export interface AddressLists
  extends Pick<FollowedDocuments<AddressList, unknown>, "apply" | "tried" | "start" | "stop"> {
  /** Whether an address is in one of these lists. `unknown`: it is in none, but one of them has never been read. */
  find(lists: readonly AddressList[], address: string): "listed" | "not listed" | "unknown";
}

interface AddressListsOptions {
  /** Reads the text of a list. Ends with `signal`. */
  read(list: AddressList, signal: AbortSignal): Promise<string>;
  copies: AddressCopies;
  log: Log;
  now(): number;
}

interface Content {
  addresses: string[];
  ranges: BlockList;
}

/** Creates the lists. None is in use before `apply`. */
export function createAddressLists({ read, copies, log, now }: AddressListsOptions): AddressLists {
  const contentOf = (addresses: string[]): Content => ({ addresses, ranges: rangesOf(addresses) });
  const lists = followDocuments<AddressList, Content>({
    restore(list) {
      const copy = copies.read(list);
      return copy && contentOf(copy.addresses);
    },
    read: async (list, signal) => ({ content: contentOf(parseAddressList(await read(list, signal), list.member)) }),
    keep: (list, { addresses }) => copies.write(list, { addresses }, now()),
    isSame: (one, other) => one.addresses.join() === other.addresses.join(),
    onChanged({ name }, { addresses }) {
      log.info(
        { event: "address_list_changed", list: name, count: addresses.length },
        "the allowed addresses have changed",
      );
    },
    onError({ name }, error, content) {
      log.warn({ event: "address_list_error", list: name, error }, effectOf(content));
    },
  });
  return {
    ...lists,
    find(wanted, address) {
      const contents = wanted.map(lists.contentOf);
      if (contents.some((content) => content !== null && isIn(content.ranges, address))) return "listed";
      return contents.includes(null) ? "unknown" : "not listed";
    },
  };
}

function effectOf(content: Content | null): string {
  if (content) return "the last good list of addresses stays in use";
  return "there is no good list of addresses yet: sources that enforce it answer 503 to other addresses";
}
