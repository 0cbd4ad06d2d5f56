import { AppError } from "../errors.ts";
import type { ConcurrencyLimit } from "../lib/concurrency-limit.ts";
import { networkOf } from "../lib/network.ts";
import type { Log } from "../log.ts";
import type { CodeCheck } from "./factors/code-check.ts";
import type { LoginMethod } from "./factors/store.ts";
import { browserOf, type OpenSession, type Requester } from "./open-session.ts";
import type { PasswordVerifier } from "./people/passwords.ts";
import type { Person } from "./people/people.ts";
import type { Throttle } from "./throttle/rules.ts";
import { canonicalEmail } from "./user.ts";

/** The e-mail and password of a login, as sent, and the code if there is one. */
interface Credentials {
  email: string;
  password: string;
  code?: string;
}

/** What the login depends on. */
interface LoginParts {
  /** Who has an e-mail in canonical form. */
  personOf: (email: string) => Person | null;
  verifyPassword: PasswordVerifier;
  /** Limits concurrent attempts. */
  attempts: ConcurrencyLimit;
  throttle: Throttle;
  /** What a person's login needs after the right password. */
  stepsOf: (person: Person) => PersonSteps;
  /** Why a password can never be right, for the log; null if it can. */
  faultOf?: (password: string, person: Person) => string | null;
  log: Log;
}

/** What the login of a person needs after the right password. */
export interface PersonSteps {
  /** Whether the password alone is not enough. Throws `store_unavailable` if that cannot be known. */
  needsCode: () => Promise<boolean>;
  checkCode: CodeCheck;
  openSession: OpenSession;
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
  const { personOf, verifyPassword, attempts, throttle, stepsOf, log } = parts;

  return async ({ email, password, code }, requester) => {
    const wanted = canonicalEmail(email);
    const { address, requestId } = requester;
    const person = personOf(wanted);
    const browser = browserOf(requester, person);
    let isPasswordRight = false;
    let method: LoginMethod | null = null;
    try {
      const { isKnown } = await throttle.check(address, wanted, browser);
      const rank = { isPreferred: isKnown, sender: browser ?? networkOf(address) };
      const verify = async () => {
        isPasswordRight = await verifyPassword(password, wanted, person);
        if (isPasswordRight && person !== null)
          method = code === undefined ? "password" : await stepsOf(person).checkCode(code, requester);
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
    if (!isPasswordRight || person === null) {
      const fault = (person && parts.faultOf?.(password, person)) ?? null;
      log.warn({ event: "login_failed", requestId, address }, `login failed${fault === null ? "" : `: ${fault}`}`);
      throw new AppError("invalid_credentials");
    }
    if (method === null) throw new AppError("invalid_code");
    const { needsCode, openSession } = stepsOf(person);
    if (method === "password" && (await needsCode())) throw new AppError("second_factor_required");
    return openSession(requester, method);
  };
}
