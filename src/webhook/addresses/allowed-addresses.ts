import type { BlockList } from "node:net";
import { isIn } from "../../lib/address-range.ts";
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
