import { BlockList, isIP } from "node:net";

/** The addresses that begin with the same bits. */
interface AddressRange {
  address: string;
  /** The number of these bits. */
  bits: number;
  family: "ipv4" | "ipv6";
}

/** Reads an address or a CIDR range such as `192.0.2.0/24`. Returns null for any other text. */
export function parseRange(text: string): AddressRange | null {
  const [address = "", prefix, ...rest] = text.split("/");
  const family = isIP(address);
  const most = family === 6 ? 128 : 32;
  const bits = prefix === undefined ? most : /^[0-9]{1,3}$/.test(prefix) ? Number(prefix) : -1;
  // An address with a zone has a meaning on one machine only.
  if (family === 0 || address.includes("%") || rest.length > 0 || bits < 0 || bits > most) return null;
  return { address, bits, family: family === 6 ? "ipv6" : "ipv4" };
}

/** A list that answers whether an address is in one of the ranges. */
export function blockListOf(ranges: Iterable<AddressRange>): BlockList {
  const list = new BlockList();
  for (const { address, bits, family } of ranges) list.addSubnet(address, bits, family);
  return list;
}

/** Whether a canonical address is in a list. */
export function isIn(list: BlockList, address: string): boolean {
  return list.check(address, address.includes(":") ? "ipv6" : "ipv4");
}
