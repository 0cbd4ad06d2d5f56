import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { blockListOf, parseRange } from "../../lib/address-range.ts";
import { openAddressCopies } from "../../webhook/addresses/address-copies.ts";
import {
  type AddressList,
  AddressListError,
  parseAddressList,
  readListFile,
} from "../../webhook/addresses/address-list.ts";
import type { Source } from "../../webhook/source.ts";
import { documentUrl, nameOfUrl } from "./document-url.ts";
import type { PathFault } from "./faults.ts";
import type { EntryContext } from "./reading.ts";
import type { SourceEntry } from "./schema.ts";

const DEFAULT_REFRESH_MS = 3_600_000;

type AddressEntry = Pick<SourceEntry, "allowedAddresses" | "addressRefresh">;

interface ReadAddresses {
  allowed: Pick<Source, "allowedAddresses" | "addressLists">;
  faults: PathFault[];
  warnings: PathFault[];
}

/** Reads the addresses that a source allows. Lists in files are read to check them; URLs are not fetched. */
export function readAllowedAddresses(
  { allowedAddresses: items = [], addressRefresh: refreshMs }: AddressEntry,
  context: EntryContext,
): ReadAddresses {
  const faults: PathFault[] = [];
  const warnings: PathFault[] = [];
  const lists: AddressList[] = [];
  for (const [index, item] of items.entries()) {
    if (parseRange(item) !== null) continue;
    const path = ["allowedAddresses", index];
    const list = listOf(item, refreshMs ?? DEFAULT_REFRESH_MS, context);
    if (typeof list === "string") {
      faults.push({ path, message: list });
      continue;
    }
    lists.push(list);
    const fault = faultOfFile(list);
    if (fault === null) continue;
    // The server uses the copy. Without one, the file was never right.
    const hasCopy = openAddressCopies(context.dataDir).read(list) !== null;
    if (hasCopy) warnings.push({ path, message: `${item} ${fault}: the last good list stays in use` });
    else faults.push({ path, message: `found ${item}, which ${fault}, expected a list of addresses and ranges` });
  }
  if (refreshMs !== undefined && !lists.some(({ kind }) => kind === "url")) {
    faults.push({ path: ["addressRefresh"], message: "found without a URL in allowedAddresses, expected one there" });
  }
  if (items.length === 0) return { allowed: {}, faults, warnings };
  const ranges = blockListOf(items.map(parseRange).filter((range) => range !== null));
  return { allowed: { allowedAddresses: ranges, ...(lists.length > 0 && { addressLists: lists }) }, faults, warnings };
}

/** The list that an item names, or the fault of the item. */
function listOf(item: string, refreshMs: number, { folder }: EntryContext): AddressList | string {
  if (item.startsWith("file:")) {
    const [path = "", member = ""] = item.slice("file:".length).split("#");
    const place = resolve(folder, path);
    return { id: idOf(place, member), name: item, kind: "file", place, member, refreshMs };
  }
  const url = documentUrl(item, "the list");
  if (typeof url === "string") return url;
  const member = decoded(url.hash.slice(1));
  if (member === null) return "found a URL whose fragment is not valid, expected the name of a member after #";
  const name = `${nameOfUrl(url)}${url.hash}`;
  url.hash = "";
  return { id: idOf(url.href, member), name, kind: "url", place: url.href, member, refreshMs };
}

function decoded(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}

/** Names the copy of a list. Half of the digest suffices. */
function idOf(place: string, member: string): string {
  return createHash("sha256").update(`${place}#${member}`).digest("hex").slice(0, 32);
}

/** Why the file of a list cannot be used; null if it can, or if the list is a URL. */
function faultOfFile({ kind, place, member }: AddressList): string | null {
  if (kind === "url") return null;
  try {
    parseAddressList(readListFile(place), member);
    return null;
  } catch (error) {
    if (error instanceof AddressListError) return error.message;
    throw error;
  }
}
