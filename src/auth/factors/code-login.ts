import { AppError } from "../../errors.ts";
import type { OpenSession, Requester } from "../open-session.ts";
import type { Throttle } from "../throttle/rules.ts";
import { canonicalEmail, type User } from "../user.ts";
import type { CodeCheck } from "./code-check.ts";
import type { LoginMethod } from "./store.ts";

/** What the second step of a login uses. */
interface CodeLoginParts {
  user: User;
  throttle: Pick<Throttle, "check" | "attempt">;
  checkCode: CodeCheck;
  openSession: OpenSession;
}

/**
 * Logs a client in that had the right password before. A wrong code counts as a wrong password. `finish` ends the step,
 * and returns false if it was ended before. Throws `invalid_code`, `too_many_attempts`, `login_busy` or
 * `store_unavailable`.
 */
export type CodeLogin = (
  code: string,
  requester: Requester,
  finish: () => Promise<boolean>,
) => Promise<{ accessToken: string }>;

/** Creates the second step of a login. */
export function createCodeLogin({ user, throttle, checkCode, openSession }: CodeLoginParts): CodeLogin {
  const email = canonicalEmail(user.email);
  return async (code, requester, finish) => {
    const { address, browser = null } = requester;
    await throttle.check(address, email, browser);
    let method: LoginMethod | null = null;
    const verify = async () => {
      method = await checkCode(code, requester);
      return method !== null;
    };
    await throttle.attempt(address, email, verify, { browser });
    if (method === null || !(await finish())) throw new AppError("invalid_code");
    return openSession(requester, method);
  };
}
