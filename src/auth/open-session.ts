import { coarseNetwork } from "../lib/network.ts";
import type { Log } from "../log.ts";
import type { LoginMethod } from "./factors/store.ts";
import type { Person } from "./people/people.ts";
import type { LoginOrigin, SessionStore } from "./sessions.ts";
import type { Throttle } from "./throttle/rules.ts";
import { createSessionId, createSignToken, type LoginWay } from "./token.ts";

/** The client of a login. */
export interface Requester {
  address: string;
  requestId: string;
  userAgent?: string | undefined;
  way: LoginWay;
  /** The mark of a browser that somebody has logged in with before. */
  mark?: { id: string; person: Person } | null;
}

/** The id of a browser in which a person has logged in before. The mark of another person's gives no right to guess. */
export const browserOf = ({ mark }: Requester, person: Person | null): string | null =>
  mark && person && mark.person.id === person.id ? mark.id : null;

/** What opens a session. `now` is in Unix milliseconds. */
interface SessionParts {
  person: Person;
  throttle: Throttle;
  sessions: SessionStore;
  secret: string;
  /** How long a token and its session last. */
  ttlSeconds: Record<LoginWay, number>;
  log: Log;
  now: () => number;
}

/** Opens the session of a person who has proved everything. */
export type OpenSession = (requester: Requester, method: LoginMethod) => Promise<{ accessToken: string }>;

/** Creates what opens sessions. A new session replaces the one before. */
export function createOpenSession(parts: SessionParts): OpenSession {
  const { person, throttle, sessions, log, now } = parts;
  const { id: userId, email, account } = person;
  const signToken = createSignToken(parts.secret);

  return async ({ address, requestId, userAgent, way }, method) => {
    const ttlSeconds = parts.ttlSeconds[way];
    const sid = createSessionId(way);
    const at = now();
    const origin = coarseOrigin(address, userAgent);
    const iat = Math.floor(at / 1000);
    // Nothing that can fail comes after the earlier session has ended.
    const accessToken = await signToken({ sub: userId, email, sid, iat, exp: iat + ttlSeconds });
    const login = { sid, at, ...origin, method };
    const notes = { login, account, knownBucket: throttle.knownBucketOf(address, person) };
    const { wasLive, lostNotes } = await sessions.replace(userId, sid, ttlSeconds, origin, notes);
    if (lostNotes !== null) {
      const line = { event: "login_not_listed" as const, requestId, error: lostNotes };
      log.warn(line, "a login is missing in the list of recent logins");
    }
    log.info({ event: "login_succeeded", requestId, address, userId, method }, "login succeeded");
    if (wasLive) log.info({ event: "session_superseded", requestId, address, userId }, "the earlier session ended");
    return { accessToken };
  };
}

/**
 * The origin of a login as shown to the user's other devices: precise enough to recognize, too coarse to locate a
 * person.
 */
function coarseOrigin(address: string, userAgent: string | undefined): LoginOrigin {
  return { network: coarseNetwork(address), userAgent: productOf(userAgent ?? "") };
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
