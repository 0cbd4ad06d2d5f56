import type { WriteAudit } from "../../audit/store.ts";
import { AppError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { createWrongTokens } from "../machine-tokens/wrong-tokens.ts";
import type { OpenSession, Requester } from "../open-session.ts";
import { type PasskeySite, passkeyIn } from "./passkeys.ts";
import type { Steps } from "./steps.ts";
import type { FactorStore } from "./store.ts";

/** What a login with a passkey uses. */
interface PasskeyLoginParts {
  store: FactorStore;
  steps: Pick<Steps, "finish">;
  site: PasskeySite;
  openSession: OpenSession;
  audit: WriteAudit;
  log: Log;
  now: () => number;
}

/**
 * Logs in with the answer of a browser to its challenge, as JSON. A passkey that verified its user is both factors.
 * Throws `invalid_passkey`, `too_many_attempts` or `store_unavailable`.
 */
export type PasskeyLogin = (
  answer: string,
  challenge: string | null,
  requester: Requester,
) => Promise<{ accessToken: string }>;

/** Creates the login with a passkey. */
export function createPasskeyLogin(parts: PasskeyLoginParts): PasskeyLogin {
  const { store, steps, site, openSession, audit, log, now } = parts;
  // No signature can be guessed. This bounds the load.
  const wrong = createWrongTokens();

  return async (answer, challenge, requester) => {
    const { address, requestId } = requester;
    const waitMs = wrong.waitMs(address, now());
    if (waitMs > 0) throw new AppError("too_many_attempts", { retryAfterSeconds: Math.ceil(waitMs / 1000) });

    function refused(reason: string): AppError {
      wrong.add(address, now());
      log.warn({ event: "passkey_refused", requestId, address, reason }, `a passkey was refused: ${reason}`);
      return new AppError("invalid_passkey");
    }

    if (challenge === null) throw refused("this browser has no challenge, or it has expired");
    const found = await passkeyIn(answer, await store.list(), site, challenge);
    if ("fault" in found) throw refused(found.fault);
    const { factor, counter, isSynced } = found;
    if (!(await steps.finish(challenge))) throw refused("the challenge was used before");
    if (isSynced && counter === 0 && factor.counter > 0) {
      const detail = { id: factor.id, name: factor.name, from: factor.counter };
      await audit({ who: "server", origin: address, action: "factor.counter_lost", detail });
    }
    if (!(await store.use(factor.id, counter, now(), isSynced))) {
      const isThere = (await store.list()).some(({ id }) => id === factor.id);
      const copied = `the counter of ${factor.name} has not grown: the passkey may have been copied. If you have moved it, remove it and add it again`;
      throw refused(isThere ? copied : "it was removed");
    }
    return openSession(requester, "passkey");
  };
}
