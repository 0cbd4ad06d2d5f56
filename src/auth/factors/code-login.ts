import { AppError } from "../../errors.ts";
import type { PersonSteps } from "../login.ts";
import { browserOf, type Requester } from "../open-session.ts";
import type { Person } from "../people/people.ts";
import type { Throttle } from "../throttle/rules.ts";
import { canonicalEmail } from "../user.ts";
import type { LoginMethod } from "./store.ts";

/** What the second step of a login uses. */
interface CodeLoginParts {
  throttle: Pick<Throttle, "check" | "attempt">;
  stepsOf: (person: Person) => Pick<PersonSteps, "checkCode" | "openSession">;
}

/**
 * Logs a client in that had the right password of a person before. A wrong code counts as a wrong password. `finish`
 * ends the step, and returns false if it was ended before. Throws `invalid_code`, `too_many_attempts`, `login_busy` or
 * `store_unavailable`.
 */
export type CodeLogin = (
  person: Person,
  code: string,
  requester: Requester,
  finish: () => Promise<boolean>,
) => Promise<{ accessToken: string }>;

/** Creates the second step of a login. */
export function createCodeLogin({ throttle, stepsOf }: CodeLoginParts): CodeLogin {
  return async (person, code, requester, finish) => {
    const { checkCode, openSession } = stepsOf(person);
    const { address } = requester;
    const email = canonicalEmail(person.email);
    const browser = browserOf(requester, person);
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
