import type { Log } from "../../log.ts";
import { browserOf, type Requester } from "../open-session.ts";
import type { Person } from "../people/people.ts";
import type { Throttle } from "../throttle/rules.ts";
import type { SecondFactors } from "./second-factors.ts";
import type { FactorStore, LoginMethod } from "./store.ts";
import { clockHint, STEP_SECONDS } from "./totp.ts";

/**
 * Checks the code of a client that has the right password, and uses it up. Returns how it proved the login; null if it
 * is wrong. Throws `too_many_attempts`, `login_busy` or `store_unavailable`.
 */
export type CodeCheck = (code: string, requester: Requester) => Promise<LoginMethod | null>;

/** What the check of a code uses. */
interface CodeCheckParts {
  factors: SecondFactors;
  store: Pick<FactorStore, "recoveryCodesLeft">;
  throttle: Pick<Throttle, "attemptCode">;
  person: Person;
  log: Log;
}

/** Why a code was refused. An app whose clock is right has shown a code that was used before. */
function whyRefused(aheadSeconds: number | null): string {
  if (aheadSeconds === null) return "wrong or used code";
  return Math.abs(aheadSeconds) <= STEP_SECONDS ? "used code" : `wrong code: ${clockHint(aheadSeconds)}`;
}

/** Creates the check of codes, which limits and logs wrong ones. */
export function createCodeCheck({ factors, store, throttle, person, log }: CodeCheckParts): CodeCheck {
  return async (code, requester) => {
    const { address, requestId } = requester;
    let method: LoginMethod | null = null;
    await throttle.attemptCode(
      address,
      person,
      async () => {
        method = await factors.useCode(code);
        return method !== null;
      },
      browserOf(requester, person),
    );
    if (method === null) {
      const aheadSeconds = await factors.aheadOf(code);
      const line = { event: "second_factor_failed" as const, requestId, address, aheadSeconds };
      log.warn(line, `login failed: ${whyRefused(aheadSeconds)}`);
    }
    if (method === "recovery_code") {
      const left = await store.recoveryCodesLeft();
      log.warn({ event: "recovery_code_used", requestId, address, left }, `a recovery code was used: ${left} are left`);
    }
    return method;
  };
}
