/** Which addresses a login may lead to. */
export interface RedirectRules {
  /** The origin of this service. */
  origin: string;
  /** Other origins, as browsers write them. */
  allowedOrigins: readonly string[];
  /** Also https origins of this domain and of its subdomains. */
  cookieDomain: string | undefined;
}

const HOME = "/";
const MAX_LENGTH = 4096;

// Browsers remove tabs and line ends from a URL, read `\` as `/`, and trim spaces. A URL with any of them is refused.
const CONFUSING = /[\s\\]|\p{Cc}/u;

/**
 * Where a login leads to: `rd` if it is allowed, else the start page of this service. `rd` is an absolute URL, or a path of this
 * service, which stays a path. It is parsed as browsers do, and compared by its origin.
 */
export function redirectTarget(rd: string | null, { origin, allowedOrigins, cookieDomain }: RedirectRules): string {
  if (rd === null || rd.length > MAX_LENGTH || CONFUSING.test(rd)) return HOME;
  const isPath = rd.startsWith("/") && !rd.startsWith("//");
  const url = URL.parse(rd, isPath ? origin : undefined);
  // The origin of a `blob:` URL is that of the page that made it.
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return HOME;
  // Dot segments are resolved: "/.//host" would become "//host".
  const path = url.pathname + url.search + url.hash;
  if (isPath) return url.origin === origin && !path.startsWith("//") ? path : HOME;
  if (url.origin === origin || allowedOrigins.includes(url.origin)) return url.href;
  const isOfDomain = DNS_NAME.test(url.hostname) && isWithin(url.hostname, cookieDomain);
  return url.protocol === "https:" && isOfDomain ? url.href : HOME;
}

// A URL may have a host such as `a;b.example.com`. It would end the directive of the page's policy that names the target.
const DNS_NAME = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/** Whether a host is a domain or one of its subdomains. */
export function isWithin(host: string, domain: string | undefined): boolean {
  return domain !== undefined && (host === domain || host.endsWith(`.${domain}`));
}
