import { createSignedIds } from "../signed-ids.ts";
import type { MarkCredential } from "../throttle/browser-mark.ts";
import type { FactorStore } from "./store.ts";

/** For how long a step of a login can be finished. */
export const STEP_MS = 5 * 60_000;

/**
 * What a browser has begun: a login whose password was right, a login with a passkey, or a new passkey, which may be
 * made without a dialog. Of all but the first the id is the challenge.
 */
type StepKind = "code" | "passkey" | "new-passkey" | "conditional-passkey";

/** Creates the steps. Another password, e-mail or secret ends them. `now` is in Unix milliseconds. */
export function createSteps(
  { secrets, email, passwordHash }: MarkCredential,
  store: Pick<FactorStore, "spend">,
  now: () => number,
) {
  const idsOf = (kind: StepKind) =>
    createSignedIds(secrets, 32, (id, expiresAt) => ["login step", kind, email, passwordHash, id, expiresAt]);
  return {
    /** Returns the id of a new step, and the value of its cookie. */
    begin: (kind: StepKind) => idsOf(kind).issue(now() + STEP_MS),
    /** The id of the newest genuine step in these values of the cookie that can still be finished; null without one. */
    read: (kind: StepKind, values: readonly string[]) =>
      idsOf(kind).newest(values, (expiresAt) => expiresAt > now())?.id ?? null,
    /** Ends a step. Returns false if it was ended before. */
    finish: (id: string) => store.spend(`step ${id}`, now() + STEP_MS, now()),
  };
}

/**
 * Steps that a browser begins and finishes. Their cookie is signed, so that whoever opens the page costs no write. Each
 * works once.
 */
export type Steps = ReturnType<typeof createSteps>;
