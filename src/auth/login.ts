import { AppError } from "../errors.ts";
import type { ConcurrencyLimit } from "../lib/concurrency-limit.ts";
import { networkOf } from "../lib/network.ts";
import type { Log } from "../log.ts";
import type { CodeCheck } from "./factors/code-check.ts";
import type { LoginMethod } from "./factors/store.ts";
import type { OpenSession, Requester } from "./open-session.ts";
import type { PasswordVerifier } from "./password.ts";
import type { Throttle } from "./throttle/rules.ts";
import { canonicalEmail, type User } from "./user.ts";

/** The e-mail and password of a login, as sent, and the code if there is one. */
interface Credentials {
  email: string;
  password: string;
  code?: string;
}

/** What the login depends on. */
interface LoginParts {
  user: User;
  verifyPassword: PasswordVerifier;
  /** Limits concurrent attempts. */
  attempts: ConcurrencyLimit;
  throttle: Throttle;
  /** Whether the password alone is not enough. Throws `store_unavailable` if that cannot be known. */
  needsCode: () => Promise<boolean>;
  checkCode: CodeCheck;
  openSession: OpenSession;
  /** Why a password can never be right, for the log; null if it can. */
  faultOf?: (password: string) => string | null;
  log: Log;
}

/**
 * Logs in. Throws `invalid_credentials`, `second_factor_required`, `invalid_code`, `too_many_attempts`, `login_busy` or
 * `store_unavailable`.
 */
export type Login = (credentials: Credentials, requester: Requester) => Promise<{ accessToken: string }>;

/**
 * Creates the login. An unknown e-mail and a wrong password take the same work and give the same `invalid_credentials`.
 * Above the throttle's limit, logins get `too_many_attempts` and no hash is computed.
 */
export function createLogin(parts: LoginParts): Login {
  const { user, verifyPassword, attempts, throttle, needsCode, checkCode, openSession, log } = parts;
  const userEmail = canonicalEmail(user.email);

  return async ({ email, password, code }, requester) => {
    const wanted = canonicalEmail(email);
    const { address, requestId, browser = null } = requester;
    let isPasswordRight = false;
    let method: LoginMethod | null = null;
    try {
      const { isKnown } = await throttle.check(address, wanted, browser);
      const rank = { isPreferred: isKnown, sender: browser ?? networkOf(address) };
      const verify = async () => {
        isPasswordRight = await verifyPassword(password, wanted === userEmail);
        if (isPasswordRight) method = code === undefined ? "password" : await checkCode(code, requester);
        return method !== null;
      };
      await throttle.attempt(address, wanted, verify, {
        runTask: (task) => attempts.run(task, rank),
        browser,
      });
    } catch (error) {
      if (error instanceof AppError && error.code === "too_many_attempts") {
        log.warn({ event: "login_throttled", requestId, address }, "login refused: too many failures");
      }
      throw error;
    }
    if (!isPasswordRight) {
      const fault = parts.faultOf?.(password) ?? null;
      log.warn({ event: "login_failed", requestId, address }, `login failed${fault === null ? "" : `: ${fault}`}`);
      throw new AppError("invalid_credentials");
    }
    if (method === null) throw new AppError("invalid_code");
    if (method === "password" && (await needsCode())) throw new AppError("second_factor_required");
    return openSession(requester, method);
  };
}
