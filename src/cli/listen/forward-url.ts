import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { OperatorError } from "../../errors.ts";
import { bareHost, isLoopback } from "../../http/listen.ts";

/** Where a listener sends events. */
export interface ForwardUrl {
  url: string;
  /** The addresses of this machine that its name has; null: it may be on another machine. */
  loopback: readonly string[] | null;
}

type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * Reads `--forward`: a URL, `localhost:3000/hook`, or a port. Throws {@link OperatorError} unless it is an address of
 * this machine, or others are allowed.
 */
export async function readForwardUrl(
  text: string,
  isRemoteAllowed: boolean,
  find: Lookup = addressesOf,
): Promise<ForwardUrl> {
  const url = URL.parse(complete(text));
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new OperatorError({
      found: "--forward is not usable",
      remedy: "give a URL, e.g. http://localhost:3000/hook",
    });
  const loopback = await loopbackOf(url.hostname, find);
  if (!isRemoteAllowed && loopback === null) {
    const remedy = "name localhost, or allow it with --allow-remote";
    throw new OperatorError({ found: "--forward is not on this machine", remedy });
  }
  return { url: url.href, loopback };
}

/** A port, or a host, as a URL. */
function complete(text: string): string {
  if (/^:?[0-9]{1,5}(?:\/|$)/.test(text)) return `http://localhost:${text.replace(":", "")}`;
  return /^(?=.*[a-z.:])(?:[\w.-]+|\[[\d:a-f]+\])(?::[0-9]|\/|$)/i.test(text) ? `http://${text}` : text;
}

// Names below localhost are of this machine (RFC 6761, 6.3), also where nothing resolves them. A program may listen on
// one of the two only.
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i;
const BOTH = ["127.0.0.1", "::1"];

async function loopbackOf(host: string, find: Lookup): Promise<readonly string[] | null> {
  if (LOCALHOST.test(host)) return BOTH;
  if (isLoopback(host)) return [bareHost(host)];
  const found = await find(host);
  return found.length > 0 && found.every(isLoopback) ? found : null;
}

/** The addresses of a name, such as one of the hosts file; none if nothing knows it. */
async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}

/** Looks up any name as these addresses. */
export function lookupAs(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_host, { all }, callback) => {
    const [first = { address: "", family: 0 }] = found;
    if (all) callback(null, found);
    else callback(null, first.address, first.family);
  };
}
