import type { BlockList } from "node:net";
import { AppError } from "../../errors.ts";
import { isIn } from "../../lib/address-range.ts";
import type { Log } from "../../log.ts";
import type { AddressList, AddressLists } from "./address-lists.ts";

/** From where a source takes deliveries. */
export interface AddressSettings {
  /** Undefined allows every address. */
  allowedAddresses?: BlockList;
  /** Lists of further allowed addresses. */
  addressLists?: readonly AddressList[];
  /** `watch` only logs deliveries from other addresses. */
  addressMode: "enforce" | "watch";
}

/** Whether a source accepts an address. `unknown`: it is in no list, but one of them has never been read. */
export function findAddress(
  { allowedAddresses, addressLists = [] }: Pick<AddressSettings, "allowedAddresses" | "addressLists">,
  address: string,
  lists: Pick<AddressLists, "find">,
): ReturnType<AddressLists["find"]> {
  if (!allowedAddresses || isIn(allowedAddresses, address)) return "listed";
  return lists.find(addressLists, address);
}

/** What the check of an address uses. */
export interface AddressParts {
  addressLists: Pick<AddressLists, "find">;
  log: Log;
}

export const UNKNOWN_RETRY_SECONDS = 60;

/**
 * Throws `address_not_allowed` for a client outside of `allowedAddresses`, or logs it if `addressMode` is `watch`.
 * Throws `intake_paused` if a list that may have the address has never been read: by the next delivery it may have
 * been.
 */
export function requireAddress(
  source: AddressSettings & { name: string },
  { requestId, address }: { requestId: string; address: string },
  { addressLists, log }: AddressParts,
): void {
  const found = findAddress(source, address, addressLists);
  if (found === "listed") return;
  const isEnforced = source.addressMode === "enforce";
  if (found === "unknown") {
    if (!isEnforced) return;
    throw new AppError("intake_paused", { reason: "addresses_unknown", retryAfterSeconds: UNKNOWN_RETRY_SECONDS });
  }
  if (isEnforced) throw new AppError("address_not_allowed", { reason: "address_not_allowed" });
  log.warn(
    { event: "delivery_from_other_address", requestId, source: source.name, address },
    "accepted, because addressMode is watch",
  );
}
