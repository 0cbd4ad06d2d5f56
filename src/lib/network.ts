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

/** Returns the IPv4 /24 or IPv6 /48 of an address in canonical form. */
export function coarseNetwork(address: string): string {
  if (!address.includes(":")) return address.replace(/\.[0-9]+$/, ".0/24");
  const groups = networkOf(address).split(":").slice(0, 3);
  while (groups.at(-1) === "0") groups.pop();
  return `${groups.join(":")}::/48`;
}
