/**
 * The network that one customer has: the IPv4 address, or the IPv6 /64, which is the least. Others have a /56 or a /48.
 * Takes a canonical address.
 */
export function networkOf(address: string, bits: 64 | 56 | 48 = 64): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(gap).fill("0"), ...right].slice(0, bits === 48 ? 3 : 4);
  if (bits === 56) groups[3] = (Number.parseInt(groups[3] as string, 16) & 0xff00).toString(16);
  return groups.join(":");
}
