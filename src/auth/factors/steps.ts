import { type People, type Person, signedCredentialOf } from "../people/people.ts";
import { createSignedIds } from "../signed-ids.ts";
import type { FactorStore } from "./store.ts";

/** For how long a step of a login can be finished. */
export const STEP_MS = 5 * 60_000;

/**
 * What a browser has begun: a login whose password was right, a login with a passkey, or a new passkey, which may be
 * made without a dialog. Of all but the first the id is the challenge.
 */
type StepKind = "code" | "passkey" | "new-passkey" | "conditional-passkey";

/** A step that a browser has begun, and whose it is. */
interface BegunStep {
  id: string;
  person: Person;
}

/** Creates the steps. Another password, e-mail or secret ends them. `now` is in Unix milliseconds. */
export function createSteps(
  secrets: readonly string[],
  people: People,
  store: Pick<FactorStore, "spend">,
  now: () => number,
) {
  function idsOf(kind: StepKind, person: Person) {
    const { email, passwordHash } = signedCredentialOf(person);
    return createSignedIds(secrets, 32, (id, expiresAt) => ["login step", kind, email, passwordHash, id, expiresAt]);
  }
  return {
    /** Returns the id of a new step of a person, and the value of its cookie. */
    begin: (kind: StepKind, person: Person) => idsOf(kind, person).issue(now() + STEP_MS),
    /**
     * The newest genuine step of each person in these values of the cookie that can still be finished: the first one;
     * null without one.
     */
    read(kind: StepKind, values: readonly string[], of: readonly Person[] = people.list()): BegunStep | null {
      for (const person of of) {
        const id = idsOf(kind, person).newest(values, (expiresAt) => expiresAt > now())?.id;
        if (id !== undefined) return { id, person };
      }
      return null;
    },
    /** Ends a step. Returns false if it was ended before. */
    finish: (id: string) => store.spend(`step ${id}`, now() + STEP_MS, now()),
  };
}

/**
 * Steps that a browser begins and finishes. Their cookie is signed, so that whoever opens the page costs no write. Each
 * works once.
 */
export type Steps = ReturnType<typeof createSteps>;
