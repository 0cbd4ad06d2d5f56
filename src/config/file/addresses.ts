import { resolve } from "node:path";
import * as v from "valibot";
import { parseRange } from "../../lib/address-range.ts";
import {
  type AddressList,
  addressesInFile,
  openAddressCopies,
  rangesOf,
} from "../../webhook/addresses/address-lists.ts";
import type { Source } from "../../webhook/source.ts";
import { duration, MAX_WAIT, oneOf } from "../fields.ts";
import { formatDuration } from "../units.ts";
import { documentId, documentUrl, nameOfUrl } from "./document-url.ts";
import { key, keyOr, listOf, TEXT } from "./fields.ts";
import type { Reading } from "./reading.ts";

const DEFAULT_REFRESH_MS = 3_600_000;

const address = v.pipe(
  TEXT,
  v.check(
    (value) => parseRange(value) !== null || /^(?:file:|https?:\/\/)[^#]/.test(value),
    "expected an address, a range, file:PATH or a URL, e.g. 192.0.2.0/24",
  ),
);

/** The keys of a source that say who may deliver. */
export const ADDRESS_KEYS = {
  allowedAddresses: key(
    listOf(address, "address"),
    "Addresses and ranges that may deliver, and lists of them: `file:PATH` relative to this file, or an `https` URL. `#NAME` after it names the member of a JSON document. Default: all.",
  ),
  addressRefresh: key(
    duration(1000, "1h", MAX_WAIT),
    `How often lists are fetched from URLs. Default: \`${formatDuration(DEFAULT_REFRESH_MS)}\`.`,
  ),
  addressMode: keyOr(
    oneOf("enforce", "watch"),
    "enforce",
    "`enforce` refuses other addresses. `watch` only logs them.",
  ),
};

interface AddressEntry {
  allowedAddresses?: readonly string[] | undefined;
  addressRefresh?: number | undefined;
}

/** Reads the addresses that a source allows. Lists in files are read to check them; URLs are not fetched. */
export function readAllowedAddresses(
  { allowedAddresses: items = [], addressRefresh: refreshMs }: AddressEntry,
  reading: Reading,
): Pick<Source, "allowedAddresses" | "addressLists"> {
  const lists: AddressList[] = [];
  for (const [index, item] of items.entries()) {
    if (parseRange(item) !== null) continue;
    const place = reading.at("allowedAddresses", index);
    const list = listIn(item, refreshMs ?? DEFAULT_REFRESH_MS, place);
    if (list === null) continue;
    lists.push(list);
    const read = list.kind === "file" ? addressesInFile(list) : null;
    if (!(read instanceof Error)) continue;
    // The server uses the copy. Without one, the file was never right.
    if (openAddressCopies(reading.context.dataDir).read(list) !== null)
      place.warn(`${item} ${read.message}: the last good list stays in use`);
    else place.fault(`found ${item}, which ${read.message}, expected a list of addresses and ranges`);
  }
  if (refreshMs !== undefined && !lists.some(({ kind }) => kind === "url"))
    reading.at("addressRefresh").fault("found without a URL in allowedAddresses, expected one there");
  if (items.length === 0) return {};
  return { allowedAddresses: rangesOf(items), ...(lists.length > 0 && { addressLists: lists }) };
}

/** The list that an item names. Null if it has a fault. */
function listIn(item: string, refreshMs: number, reading: Reading): AddressList | null {
  if (item.startsWith("file:")) {
    const [path = "", member = ""] = item.slice("file:".length).split("#");
    const place = resolve(reading.context.folder, path);
    return { id: documentId(`${place}#${member}`), name: item, kind: "file", place, member, refreshMs };
  }
  const url = documentUrl(item, "the list", reading);
  if (url === null) return null;
  const member = decoded(url.hash.slice(1));
  if (member === null)
    return reading.fault("found a URL whose fragment is not valid, expected the name of a member after #");
  const name = `${nameOfUrl(url)}${url.hash}`;
  url.hash = "";
  return { id: documentId(`${url.href}#${member}`), name, kind: "url", place: url.href, member, refreshMs };
}

function decoded(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}
