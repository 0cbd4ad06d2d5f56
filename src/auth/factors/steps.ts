import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { MarkCredential } from "../throttle/browser-mark.ts";
import type { FactorStore } from "./store.ts";

/** For how long a step of a login can be finished. */
export const STEP_MS = 5 * 60_000;

/**
 * What a browser has begun: a login whose password was right, a login with a passkey, or a new passkey. Of the last two
 * the id is the challenge.
 */
type StepKind = "code" | "passkey" | "new-passkey";

/** What a browser keeps of a step, and its id. */
interface BegunStep {
  id: string;
  /** The value of the cookie. */
  value: string;
}

const FORM = /^([A-Za-z0-9_-]{43})\.([0-9]{1,15})\.([A-Za-z0-9_-]{43})$/;

/** Creates the steps. Another password, e-mail or secret ends them. `now` is in Unix milliseconds. */
export function createSteps(
  { secrets, email, passwordHash }: MarkCredential,
  store: Pick<FactorStore, "spend">,
  now: () => number,
) {
  const sign = (secret: string, kind: StepKind, id: string, expiresAt: number) =>
    createHmac("sha256", secret)
      .update(JSON.stringify(["login step", kind, email, passwordHash, id, expiresAt]))
      .digest();

  function genuine(kind: StepKind, value: string): { id: string; expiresAt: number } | null {
    const [, id = "", time = "", signature = ""] = FORM.exec(value) ?? [];
    const expiresAt = Number(time);
    const given = Buffer.from(signature, "base64url");
    if (given.length !== 32 || expiresAt <= now()) return null;
    return secrets.some((secret) => timingSafeEqual(sign(secret, kind, id, expiresAt), given))
      ? { id, expiresAt }
      : null;
  }

  return {
    begin(kind: StepKind): BegunStep {
      const id = randomBytes(32).toString("base64url");
      const expiresAt = now() + STEP_MS;
      const signature = sign(secrets[0] as string, kind, id, expiresAt).toString("base64url");
      return { id, value: `${id}.${expiresAt}.${signature}` };
    },
    /** The id of the newest genuine step in these values of the cookie that can still be finished; null without one. */
    read(kind: StepKind, values: readonly string[]): string | null {
      const steps = values.map((value) => genuine(kind, value)).filter((step) => step !== null);
      return steps.sort((a, b) => b.expiresAt - a.expiresAt)[0]?.id ?? null;
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
