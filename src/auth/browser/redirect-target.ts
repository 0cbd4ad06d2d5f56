/** Which addresses a login may lead to. */
export interface RedirectRules {
  /** The origin of this service. */
  origin: string;
  /** The path before those of this service: empty, or e.g. `/sso`. */
  base: string;
  /** Other origins, as browsers write them. */
  allowedOrigins: readonly string[];
  /** Also https origins of this domain and of its subdomains. */
  cookieDomain: string | undefined;
}

/**
 * Why `rd` is refused: its origin is not allowed, it has no host, or browsers could read it in another way than it
 * seems.
 */
type RefusalReason = "origin_not_allowed" | "no_host" | "malformed";

/** An `rd` that is refused. */
export interface RefusedTarget {
  reason: RefusalReason;
  /** Set with `origin_not_allowed`. */
  origin: string | null;
}

/** Where a login leads to. */
export interface Target {
  /** An absolute URL, or a path of this service. */
  url: string;
  /** Why it is the start page instead of `rd`; null if it is not. */
  refused: RefusedTarget | null;
}

/** Longest `rd`. Encoded in the address of the login page it is three times as long. */
const MAX_LENGTH = 4096;

// Browsers remove tabs and line ends from a URL, read `\` as `/`, and trim spaces. A URL with any of them is refused.
const CONFUSING = /[\s\\]|\p{Cc}/u;

/**
 * Where a login leads to: `rd` if it is allowed, else the start page of this service. `rd` is an absolute URL, or a
 * path of this service, which stays a path. It is parsed as browsers do, and compared by its origin. An http URL means
 * the https one, where only that is allowed: a proxy behind another one that does TLS may not know it.
 */
export function redirectTarget(rd: string | null, rules: RedirectRules): Target {
  const home = `${rules.base}/`;
  if (rd === null) return { url: home, refused: null };
  const judged = judge(rd, rules);
  return typeof judged === "string" ? { url: judged, refused: null } : { url: home, refused: judged };
}

/** An address that can be an `rd`: without its query if it is too long, or else the start page of its origin. */
export function shortTarget(url: string): string {
  if (isShort(url)) return url;
  const page = url.replace(/[?#].*$/s, "");
  return isShort(page) ? page : page.replace(/^([a-z]+:\/\/[^/]*).*$/is, "$1/");
}

/** The address of a page of this service that leads on to `rd`. Null: to nowhere. */
export const withRd = (page: string, rd: string | null) => page + (rd === null ? "" : `?rd=${encodeURIComponent(rd)}`);

/** Whether an address is short enough for an `rd`. */
export const isShort = (url: string) => url.length <= MAX_LENGTH;

/** The target as it is used, or why it is refused. */
function judge(rd: string, rules: RedirectRules): string | RefusedTarget {
  if (!isShort(rd) || CONFUSING.test(rd)) return refused("malformed");
  // nginx has no `$http_host` over HTTP/3.
  if (/^https?:\/\/\//i.test(rd)) return refused("no_host");
  const isPath = rd.startsWith("/") && !rd.startsWith("//");
  const url = URL.parse(rd, isPath ? rules.origin : undefined);
  // The origin of a `blob:` URL is that of the page that made it.
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    return refused("malformed");
  // Dot segments are resolved: "/.//host" would become "//host".
  const path = url.pathname + url.search + url.hash;
  if (isPath) return url.origin === rules.origin && !path.startsWith("//") ? path : refused("malformed");
  const asked = url.origin;
  if (isAllowed(url, rules)) return url.href;
  url.protocol = "https:";
  return isAllowed(url, rules) ? url.href : refused("origin_not_allowed", asked);
}

const refused = (reason: RefusalReason, origin: string | null = null): RefusedTarget => ({ reason, origin });

function isAllowed(url: URL, rules: RedirectRules): boolean {
  return url.origin === rules.origin || rules.allowedOrigins.includes(url.origin) || isOfDomain(url, rules);
}

/** Whether a URL is an https one within the domain of the cookie. */
export function isOfDomain({ protocol, hostname }: URL, { cookieDomain }: RedirectRules): boolean {
  return protocol === "https:" && DNS_NAME.test(hostname) && isWithin(hostname, cookieDomain);
}

/** Tells the operator what to do about a refused target. */
export function refusalText({ reason, origin }: RefusedTarget): string {
  switch (reason) {
    case "origin_not_allowed":
      return `a login does not lead to ${origin}: if it is your app, add it to REDIRECT_ORIGINS, or set COOKIE_DOMAIN to its domain`;
    case "no_host":
      return "a login does not lead to a URL without a host: let the proxy name the host, as deploy/nginx-app.conf does";
    case "malformed":
      return "a login does not lead to an rd that is no plain URL: let the proxy send the URL as the client wrote it";
  }
}

// A URL may have a host such as `a;b.example.com`. It would end the directive of the page's policy that names the
// target.
const DNS_NAME = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/** Whether a host is a domain or one of its subdomains. */
export function isWithin(host: string, domain: string | undefined): boolean {
  return domain !== undefined && (host === domain || host.endsWith(`.${domain}`));
}
