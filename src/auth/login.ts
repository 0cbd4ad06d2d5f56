import { AppError } from "../errors.ts";
import type { ConcurrencyLimit } from "../lib/concurrency-limit.ts";
import { coarseNetwork, networkOf } from "../lib/network.ts";
import type { Log } from "../log.ts";
import type { PasswordVerifier } from "./password.ts";
import type { LoginOrigin, SessionStore } from "./sessions.ts";
import type { Throttle } from "./throttle/rules.ts";
import { createSessionId, createSignToken, type LoginWay } from "./token.ts";
import { canonicalEmail, type User } from "./user.ts";

/** The e-mail and password of a login, as sent. */
interface Credentials {
  email: string;
  password: string;
}

/** The client of a login. */
interface Requester {
  address: string;
  requestId: string;
  userAgent?: string | undefined;
  way: LoginWay;
  /** The id in the mark of a browser that has logged in before. */
  browser?: string | null;
}

/** What the login depends on. `now` is in Unix milliseconds. */
interface LoginParts {
  user: User;
  verifyPassword: PasswordVerifier;
  /** Limits concurrent attempts. */
  attempts: ConcurrencyLimit;
  throttle: Throttle;
  sessions: SessionStore;
  secret: string;
  /** How long a token and its session last. */
  ttlSeconds: Record<LoginWay, number>;
  /** Why a password can never be right, for the log; null if it can. */
  faultOf?: (password: string) => string | null;
  log: Log;
  now: () => number;
}

/** Logs in. Throws `invalid_credentials`, `too_many_attempts`, `login_busy` or `store_unavailable`. */
export type Login = (credentials: Credentials, requester: Requester) => Promise<{ accessToken: string }>;

/**
 * Creates the login. An unknown e-mail and a wrong password take the same work and give the same `invalid_credentials`.
 * Above the throttle's limit, logins get `too_many_attempts` and no hash is computed.
 */
export function createLogin(parts: LoginParts): Login {
  const { user, verifyPassword, attempts, throttle, sessions, secret, log, now } = parts;
  const signToken = createSignToken(secret);
  const userEmail = canonicalEmail(user.email);

  return async ({ email, password }, requester) => {
    const wanted = canonicalEmail(email);
    const { address, requestId, browser = null } = requester;
    let isRight: boolean;
    try {
      const { isKnown } = await throttle.check(address, wanted, browser);
      const rank = { isPreferred: isKnown, sender: browser ?? networkOf(address) };
      const verify = () => verifyPassword(password, wanted === userEmail);
      isRight = await throttle.attempt(address, wanted, verify, {
        runTask: (task) => attempts.run(task, rank),
        browser,
      });
    } catch (error) {
      if (error instanceof AppError && error.code === "too_many_attempts") {
        log.warn({ event: "login_throttled", requestId, address }, "login refused: too many failures");
      }
      throw error;
    }
    if (!isRight) {
      const fault = parts.faultOf?.(password) ?? null;
      log.warn({ event: "login_failed", requestId, address }, `login failed${fault === null ? "" : `: ${fault}`}`);
      throw new AppError("invalid_credentials");
    }

    const ttlSeconds = parts.ttlSeconds[requester.way];
    const sid = createSessionId(requester.way);
    // Both writes share one commit.
    const [replaced] = await Promise.all([
      sessions.replace(user.id, sid, ttlSeconds, coarseOrigin(address, requester.userAgent)),
      throttle.remember(address),
    ]);
    const iat = Math.floor(now() / 1000);
    const accessToken = await signToken({ sub: user.id, email: user.email, sid, iat, exp: iat + ttlSeconds });
    log.info({ event: "login_succeeded", requestId, address, userId: user.id }, "login succeeded");
    if (replaced)
      log.info({ event: "session_superseded", requestId, address, userId: user.id }, "the earlier session ended");
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
