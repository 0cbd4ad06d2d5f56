import type { WriteAudit } from "../../audit/store.ts";
import { AppError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { createWrongTokens } from "../machine-tokens/wrong-tokens.ts";
import type { OpenSession, Requester } from "../open-session.ts";
import type { People, Person } from "../people/people.ts";
import { factorIdIn, type PasskeySite, passkeyIn } from "./passkeys.ts";
import type { Steps } from "./steps.ts";
import type { FactorRecord, FactorStore, FactorStores } from "./store.ts";

/** What a login with a passkey uses. */
interface PasskeyLoginParts {
  people: Pick<People, "list">;
  factorsOf: (person: Person) => FactorStore;
  listAll: FactorStores["listAll"];
  steps: Pick<Steps, "finish">;
  site: PasskeySite;
  openSessionOf: (person: Person) => OpenSession;
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
  const { people, factorsOf, listAll, steps, site, openSessionOf, audit, log, now } = parts;
  // No signature can be guessed. This bounds the load.
  const wrong = createWrongTokens();

  /** The person whose passkey an answer names. Only that person's are then tried. */
  async function ownerOf(answer: string): Promise<{ person: Person; factors: FactorRecord[] } | null> {
    const id = factorIdIn(answer);
    const known = await listAll();
    const account = known.find((factor) => factor.id === id)?.account;
    const person = people.list().find((one) => one.account === account);
    return person === undefined ? null : { person, factors: known.filter((factor) => factor.account === account) };
  }

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
    const owner = await ownerOf(answer);
    const found = await passkeyIn(answer, owner?.factors ?? [], site, challenge);
    if ("fault" in found) throw refused(found.fault);
    const { person } = owner as NonNullable<typeof owner>;
    const store = factorsOf(person);
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
    return openSessionOf(person)(requester, "passkey");
  };
}
