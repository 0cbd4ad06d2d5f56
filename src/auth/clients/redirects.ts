// RFC 8252, 7.3 and 8.3: the port of an app on the person's machine changes, and `localhost` may be another machine.
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?([/?].*)?$/s;
const MAX_PORT = 65_535;

/** The address without its port, if it is a loopback address by http; null for others. */
function withoutPort(uri: string): string | null {
  const [, host, port = "1", rest = ""] = LOOPBACK.exec(uri) ?? [];
  return host === undefined || Number(port) > MAX_PORT ? null : host + rest;
}

/** Whether an address is one of those that are registered, character for character. */
export function matchesRedirect(registered: readonly string[], uri: string): boolean {
  if (registered.includes(uri)) return true;
  const portless = withoutPort(uri);
  return portless !== null && registered.some((one) => withoutPort(one) === portless);
}

/** A redirect URI with the parameters of an answer after its own query. Those that are null are left out. */
export function answerUrl(redirectUri: string, parameters: Readonly<Record<string, string | null>>): string {
  // Parsing would write some addresses in another way, such as those of custom schemes.
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  if (given.length === 0) return redirectUri;
  const separator = !redirectUri.includes("?") ? "?" : /[?&]$/.test(redirectUri) ? "" : "&";
  return redirectUri + separator + new URLSearchParams(given).toString();
}

// RFC 3986, appendix B.
const PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;
const PART_NAMES = ["scheme", "host or port", "path", "query", "fragment"] as const;

/** In which parts two addresses differ. */
function differingParts(a: string, b: string): (typeof PART_NAMES)[number][] {
  const [partsOfA = [], partsOfB = []] = [a, b].map((uri) => PARTS.exec(uri)?.slice(1));
  return PART_NAMES.filter((_, index) => partsOfA[index] !== partsOfB[index]);
}

const withoutSlash = (uri: string) => uri.replace(/\/(?=$|[?#])/, "");

/** The registered address that is most like another one, and in what they differ. Null: none is registered. */
export function nearestRedirect(
  registered: readonly string[],
  uri: string,
): { registered: string; difference: string } | null {
  const byDifference = registered
    .map((one) => ({ registered: one, parts: differingParts(one, uri) }))
    .sort((a, b) => a.parts.length - b.parts.length);
  const [best] = byDifference;
  if (best === undefined) return null;
  if (withoutSlash(best.registered) === withoutSlash(uri))
    return { registered: best.registered, difference: "a slash at the end" };
  if (best.registered.toLowerCase() === uri.toLowerCase())
    return { registered: best.registered, difference: "upper and lower case" };
  return { registered: best.registered, difference: best.parts.join(", ") };
}

const ANSWERS = ["code", "state", "iss", "error", "error_description", "error_uri"];

// Browsers run or show what follows these, instead of leading to an app.
const NO_APP = /^(?:javascript|vbscript|data|blob|file|filesystem|about|view-source|ws|wss|ftp|mailto):/i;

/** Why an address may not be registered as a redirect URI, in one sentence. Null: it may. */
export function redirectFault(uri: string): string | null {
  if (!/^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/i.test(uri) || /[\\"<>^`{|}]/.test(uri) || !URL.canParse(uri))
    return "expected an absolute address in ASCII, with other characters encoded";
  if (NO_APP.test(uri)) return "expected https, http or the scheme of an app";
  if (uri.includes("#")) return "expected no fragment (RFC 6749, 3.1.2)";
  if (uri.includes("*")) return "expected no wildcard: each address is compared character for character";
  const { username, password, searchParams } = new URL(uri);
  if (username !== "" || password !== "") return "expected no user and no password";
  const answer = ANSWERS.find((name) => searchParams.has(name));
  return answer === undefined ? null : `expected no ${answer} in the query: the answer adds it`;
}
