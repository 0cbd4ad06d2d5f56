import type { BlockList } from "node:net";
import { isIn } from "../../lib/address-range.ts";
import type { Log } from "../../log.ts";
import { type AddressCopies, type AddressList, parseAddressList, rangesOf } from "./address-list.ts";
import { type FollowedDocuments, followDocuments } from "./followed-documents.ts";

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
