import { networkOf } from "../lib/network.ts";
import type { LoginOrigin } from "./sessions.ts";

/**
 * The origin of a login as shown to the user's other devices: precise enough to recognize, too coarse to locate a
 * person.
 */
export function coarseOrigin(address: string, userAgent: string | undefined): LoginOrigin {
  return { network: coarseNetwork(address), userAgent: productOf(userAgent ?? "") };
}

/** Returns the IPv4 /24 or IPv6 /48 of an address in canonical form. */
export function coarseNetwork(address: string): string {
  if (!address.includes(":")) return address.replace(/\.[0-9]+$/, ".0/24");
  const groups = networkOf(address).split(":").slice(0, 3);
  while (groups.at(-1) === "0") groups.pop();
  return `${groups.join(":")}::/48`;
}

// A browser's User-Agent also names the browsers it derives from. The first entry found is the browser itself.
const BROWSERS: readonly (readonly [token: string, name: string])[] = [
  ["Edg", "Edge"],
  ["OPR", "Opera"],
  ["SamsungBrowser", "Samsung Internet"],
  ["Firefox", "Firefox"],
  ["FxiOS", "Firefox"],
  ["CriOS", "Chrome"],
  ["Chrome", "Chrome"],
  ["Safari", "Safari"],
];

/** Returns the product name in a User-Agent (RFC 9110, 10.1.5) without its version; null when there is none. */
export function productOf(userAgent: string): string | null {
  const first = /^([A-Za-z][A-Za-z0-9._-]{0,31})(?:[/ ]|$)/.exec(userAgent)?.[1] ?? null;
  if (first !== "Mozilla") return first;
  const browser = BROWSERS.find(([token]) => new RegExp(`\\b${token}[A-Za-z]*/`).test(userAgent));
  return browser?.[1] ?? null;
}
