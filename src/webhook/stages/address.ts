import { AppError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { AddressLists } from "../addresses/address-lists.ts";
import { findAddress } from "../addresses/allowed-addresses.ts";
import type { Source } from "../source.ts";

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
  source: Source,
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
