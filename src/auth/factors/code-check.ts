import type { Log } from "../../log.ts";
import type { Requester } from "../open-session.ts";
import type { Throttle } from "../throttle/rules.ts";
import type { SecondFactors } from "./second-factors.ts";
import type { FactorStore, LoginMethod } from "./store.ts";

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
  log: Log;
}

/** Creates the check of codes, which limits and logs wrong ones. */
export function createCodeCheck({ factors, store, throttle, log }: CodeCheckParts): CodeCheck {
  return async (code, { address, requestId, browser = null }) => {
    let method: LoginMethod | null = null;
    await throttle.attemptCode(
      address,
      async () => {
        method = await factors.useCode(code);
        return method !== null;
      },
      browser,
    );
    if (method === null)
      log.warn({ event: "second_factor_failed", requestId, address }, "login failed: wrong or used code");
    if (method === "recovery_code") {
      const left = await store.recoveryCodesLeft();
      log.warn({ event: "recovery_code_used", requestId, address, left }, `a recovery code was used: ${left} are left`);
    }
    return method;
  };
}
