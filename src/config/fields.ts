import { isIP } from "node:net";
import * as v from "valibot";
import { type PasswordHash, parsePasswordHash } from "../auth/password-hash.ts";
import { isEmail } from "../auth/user.ts";
import { MAX_WAIT_MS } from "../events/job.ts";
import { isLocalHost, isLoopback } from "../http/listen.ts";
import { blockListOf, parseRange } from "../lib/address-range.ts";
import { type DatabaseAddress, isFault, parseDatabaseUrl } from "../postgres/address.ts";
import { SIGNING_SECRET_FORM, signingKeyOf, weaknessOfTokenSecret } from "./secrets.ts";
import { parseDurationMs, parseSizeBytes, parseTtlSeconds } from "./units.ts";

/** The lifetime of a token if `JWT_TTL` is not set or malformed. */
export const DEFAULT_TTL_SECONDS = 900;
const MAX_TTL_SECONDS = 30 * 86_400;

/** Any text. */
export const text = v.pipe(v.string(), v.description("text"));

/** The path of a file. */
export const file = v.pipe(text, v.description("path of a file"));

/** The path of a directory. */
export const directory = v.pipe(text, v.description("path of a directory"));

/** Returns the type of a field for the documentation, taken from its message. */
function typeIn(expectation: string): string {
  return expectation.replace(/^expected (?:an? )?/, "").replace(/, e\.g\. .*$/, "");
}

/** Text that matches a form. `expectation` is the message for other text. */
function matching(form: RegExp, expectation: string) {
  return v.pipe(v.string(expectation), v.regex(form, expectation), v.description(typeIn(expectation)));
}

/** One of some words. */
export function oneOf<const Word extends string>(...words: Word[]) {
  const expectation = `expected one of ${words.join(", ")}`;
  return v.pipe(v.picklist(words, expectation), v.description(typeIn(expectation)));
}

/** A field that `read` parses. `expectation` is the message if `read` returns null. */
export function parsed<T>(read: (value: string) => T | null, expectation: string) {
  return v.pipe(
    v.string(expectation),
    v.rawTransform(({ dataset, addIssue, NEVER }): T => {
      const value = read(dataset.value);
      if (value !== null) return value;
      addIssue({ message: expectation });
      return NEVER;
    }),
    v.description(typeIn(expectation)),
  );
}

/** Paths of files. */
export const files = v.pipe(
  parsed((value) => {
    const paths = value
      .split(",")
      .map((path) => path.trim())
      .filter((path) => path !== "");
    return paths.length === 0 ? null : paths;
  }, "expected a comma-separated list of files, e.g. /etc/authserve/key"),
  v.description("comma-separated list of files"),
);

function toInteger(value: string, min: number, max: number): number | null {
  const number = /^[0-9]{1,15}$/.test(value) ? Number(value) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

/** A whole number in decimal digits, both bounds included. */
export function integer(min: number, max: number) {
  return parsed((value) => toInteger(value, min, max), `expected a whole number from ${min} to ${max}`);
}

/** An upper limit for {@link duration}: milliseconds, and the text for the message. */
export const MAX_WAIT = { ms: MAX_WAIT_MS, text: "at most 24h" };
/** The longest duration. Timers are limited to 24.8 days, and some wait a little longer than the setting. */
export const MAX_DURATION = { ms: 24 * 86_400_000 - 1, text: "under 24 days" };
/** An upper limit for {@link duration} of ages, which no timer waits for. */
export const MAX_AGE = { ms: 365 * 86_400_000, text: "at most 365d" };

/** A duration such as `30s`, in milliseconds; `example` is shown in the message. */
export function duration(minMs: number, example: string, max = MAX_DURATION) {
  return parsed((value) => {
    const ms = parseDurationMs(value);
    return ms !== null && ms >= minMs && ms <= max.ms ? ms : null;
  }, `expected a duration of at least ${minMs}ms and ${max.text}, e.g. ${example}`);
}

/** A duration, or `off`, which is 0 ms. */
export function durationOrOff(minMs: number, example: string, max = MAX_DURATION) {
  return parsed((value) => {
    const ms = value === "off" ? 0 : parseDurationMs(value);
    return ms === 0 || (ms !== null && ms >= minMs && ms <= max.ms) ? ms : null;
  }, `expected off, or a duration of at least ${minMs}ms and ${max.text}, e.g. ${example}`);
}

function sizeBetween(minBytes: number, maxBytes: number, expectation: string) {
  return parsed((value) => {
    const bytes = parseSizeBytes(value);
    return bytes !== null && bytes >= minBytes && bytes <= maxBytes ? bytes : null;
  }, expectation);
}

/** A size such as `512k`, in bytes: 1 byte to 64 MiB. */
export const size = sizeBetween(1, 64 * 1024 ** 2, "expected a size from 1 byte to 64m, e.g. 1m");

/** A size of disk space, in bytes: 0 to 1,000,000 GiB. */
export const diskSize = sizeBetween(0, 1_000_000 * 1024 ** 3, "expected a size from 0 to 1000000g, e.g. 1g");

/** A lifetime such as `900s`, above zero and up to 30 days. Text of another form means 900 seconds, with a warning. */
export const ttl = parsed((value) => {
  const seconds = parseTtlSeconds(value);
  if (seconds === null) return { seconds: DEFAULT_TTL_SECONDS, fellBack: true };
  return seconds > 0 && seconds <= MAX_TTL_SECONDS ? { seconds, fellBack: false } : null;
}, "expected a lifetime above zero and at most 30d, e.g. 900s");

/** A signing secret in which {@link weaknessOfTokenSecret} finds no weakness. */
export const strongSecret = v.pipe(
  text,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const weakness = weaknessOfTokenSecret(dataset.value);
    if (weakness) addIssue({ message: `${weakness}: make one with openssl rand -base64 48` });
  }),
  v.description("text of at least 32 bytes"),
);

/** A secret that signs what handlers send, as {@link signingKeyOf} reads it. */
export const signingSecret = v.pipe(
  text,
  v.check((value) => signingKeyOf(value) !== null, SIGNING_SECRET_FORM),
);

/** A password hash, parsed by {@link parsePasswordHash}. */
export const passwordHash = v.pipe(
  text,
  v.rawTransform(({ dataset, addIssue, NEVER }): PasswordHash => {
    const result = parsePasswordHash(dataset.value);
    if (!("reason" in result)) return result;
    addIssue({ message: `${result.reason}: ${result.remedy ?? "make one with authserve hash-password"}` });
    return NEVER;
  }),
  v.description("argon2id or bcrypt hash"),
);

/** An e-mail address that {@link isEmail} accepts, unchanged. */
export const email = v.pipe(
  text,
  v.check(isEmail, "expected an e-mail address, e.g. demo@example.com"),
  v.description("e-mail address"),
);

/** The paths of the service itself. */
export const OWN_PATHS = [
  "/admin",
  "/auth",
  "/docs",
  "/oauth",
  "/login",
  "/logout",
  "/healthz",
  "/readyz",
  "/metrics",
  "/openapi.json",
] as const;

const isOwnPath = (path: string) => OWN_PATHS.some((own) => path === own || path.startsWith(`${own}/`));

/**
 * The path of a source, without dot segments, and not below a path of the service itself. A segment does not begin with
 * a colon: those are the parameters of an endpoint.
 */
export const path = v.pipe(
  matching(
    /^\/(?:[A-Za-z0-9._~-][A-Za-z0-9._~:-]*(?:\/[A-Za-z0-9._~-][A-Za-z0-9._~:-]*)*\/?)?$/,
    "expected a path of letters, digits and . _ ~ - with : inside, e.g. /webhook",
  ),
  v.check((value) => !/\/\.{1,2}(?:\/|$)/.test(value), "expected a path without . and .. segments, e.g. /webhook"),
  v.check((value) => !isOwnPath(value), "expected a path that the service does not use itself, e.g. /webhook"),
);

const URL_EXPECTATION = "expected an http or https URL without user and password, e.g. http://127.0.0.1:8080/events";

/** An http or https URL, unchanged. A URL with a user or a password is refused. */
export const url = v.pipe(
  v.string(URL_EXPECTATION),
  v.check((value) => {
    if (!URL.canParse(value)) return false;
    const { protocol, username, password } = new URL(value);
    return /^https?:$/.test(protocol) && username + password === "";
  }, URL_EXPECTATION),
  v.description(typeIn(URL_EXPECTATION)),
);

/**
 * The origin of an https URL, or of an http URL whose host `mayBePlain`, by default loopback. As browsers write it: in
 * lower case, without a default port.
 */
function toOrigin(value: string, mayBePlain = isLoopback): string | null {
  const url = URL.parse(value);
  if (url === null || url.pathname !== "/" || /[?#*\s\\]/.test(value) || url.username + url.password !== "")
    return null;
  if (url.protocol !== "https:" && !(url.protocol === "http:" && mayBePlain(url.hostname))) return null;
  return url.origin;
}

/** An origin that browsers use, and perhaps the path before those of this service. Without a final `/`. */
export const publicUrl = parsed((value) => {
  const [, start = "", prefix = ""] =
    /^([a-z]+:\/\/[^/]+)((?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*)\/?$/i.exec(value) ?? [];
  const own = toOrigin(start, isLocalHost);
  return own === null || isOwnPath(prefix) ? null : own + prefix;
}, "expected an https URL, e.g. https://auth.example.com or https://example.com/sso, or an http one of a local network");

/** Comma-separated origins. */
export const origins = parsed((value) => {
  const list = value === "" ? [] : value.split(",").map((part) => toOrigin(part.trim()));
  return list.every((one) => one !== null) ? list : null;
}, "expected a comma-separated list of https origins without a path, e.g. https://app.example.com");

/** A domain whose subdomains share a cookie. A dot before it means nothing (RFC 6265, 5.2.3), and some write one. */
export const domain = v.pipe(
  v.string(),
  v.transform((text) => text.replace(/^\./, "")),
  matching(
    /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\.[a-z][a-z0-9-]*[a-z0-9]$/,
    "expected a domain in small letters with a dot in it, e.g. example.com or home.lan",
  ),
);

/** Comma-separated addresses and CIDR ranges, as a `BlockList`. */
export const networks = parsed((value) => {
  const ranges = value.split(",").map((entry) => parseRange(entry.trim()));
  return ranges.includes(null) ? null : blockListOf(ranges.filter((range) => range !== null));
}, "expected a comma-separated list of addresses or ranges, e.g. 10.0.0.0/8,::1");

const isHostName = (value: string) => /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}._-]*[\p{L}\p{M}\p{N}_.])?$/u.test(value);

/** A host name or an IP address, without a port. */
export const host = v.pipe(
  text,
  v.check(
    (value) =>
      (isIP(value) !== 0 && !value.includes("%")) ||
      // Four numbers that are not an address are a mistake, which a resolver would look up as a name.
      (!/^[0-9]+(?:\.[0-9]+){3}$/.test(value) && isHostName(value)),
    "expected a host name or an IP address without scheme, port, brackets and zone, e.g. 127.0.0.1",
  ),
  v.description("host name or IP address"),
);

/** Comma-separated host names, in lower case. */
export const hostNames = parsed((value) => {
  const list = value === "" ? [] : value.split(",").map((entry) => entry.trim().toLowerCase());
  return list.every((name) => isHostName(name) && isIP(name) === 0) ? list : null;
}, "expected a comma-separated list of host names without port, e.g. auth.internal,authserve.lan");

/** Comma-separated `host:port`, with IPv6 addresses in brackets. */
export const addresses = parsed((value) => {
  const list: { host: string; port: number }[] = [];
  for (const entry of value.split(",").map((part) => part.trim())) {
    const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+)):([0-9]{1,5})$/i.exec(entry);
    const host = match?.[1] ?? match?.[2];
    const port = Number(match?.[3]);
    if (host === undefined || port < 1 || port > 65_535) return null;
    list.push({ host, port });
  }
  return list;
}, "expected a comma-separated list of host:port, e.g. 10.0.0.1:6379,10.0.0.2:6379");

/** `true` or `false`. */
export const yesOrNo = parsed(
  (value) => (value === "true" ? true : value === "false" ? false : null),
  "expected true or false",
);

/** The prefix of every key in Redis. */
export const keyPrefix = matching(
  /^[A-Za-z0-9._:-]{1,64}$/,
  "expected 1 to 64 letters, digits and . _ : -, e.g. authserve:",
);

export const USER_ID = /^[A-Za-z0-9._:@-]{1,128}$/;
export const USER_ID_FORM = "expected 1 to 128 letters, digits and . _ : @ -, e.g. 1";

/** The user id in tokens. */
export const userId = matching(USER_ID, USER_ID_FORM);

/** A number from 0 to 1. */
export const fraction = parsed(
  (value) => (/^(?:0(?:\.[0-9]+)?|1(?:\.0+)?)$/.test(value) ? Number(value) : null),
  "expected a number from 0 to 1, e.g. 0.2",
);

/** The address of a PostgreSQL database, with its URL. */
export const databaseUrl = v.pipe(
  text,
  v.rawTransform(({ dataset, addIssue, NEVER }): DatabaseAddress & { url: string } => {
    const parsedUrl = parseDatabaseUrl(dataset.value);
    if (!isFault(parsedUrl)) return { ...parsedUrl, url: dataset.value };
    addIssue({ message: `${parsedUrl.found}: ${parsedUrl.remedy}` });
    return NEVER;
  }),
  v.description("URL of PostgreSQL"),
);
