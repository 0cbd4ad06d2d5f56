import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { KNOWN_ADDRESS_MS, type ThrottleStore } from "./store.ts";

/** How long a browser is known after a login. */
export const KNOWN_BROWSER_MS = KNOWN_ADDRESS_MS;

// Servers that share sessions read clocks that may differ.
const CLOCK_SLACK_MS = 60_000;

// The store keeps when it was written for at least as long as a mark lasts.
const REVOCATION = "browsers-revoked";

/** What a mark is signed with. Another password, e-mail or secret makes all marks worthless. */
export interface MarkCredential {
  /** The first one signs. */
  secrets: readonly string[];
  email: string;
  passwordHash: string;
}

const FORM = /^([A-Za-z0-9_-]{22})\.([0-9]{1,15})\.([A-Za-z0-9_-]{43})$/;

/** Creates the marks. `now` is in Unix milliseconds. */
export function createBrowserMarks(
  { secrets, email, passwordHash }: MarkCredential,
  store: Pick<ThrottleStore, "isKnown">,
  now: () => number,
) {
  const sign = (secret: string, text: string) =>
    createHmac("sha256", secret)
      .update(JSON.stringify(["browser mark", email, passwordHash, text]))
      .digest();

  function genuine(mark: string): { id: string; issuedAt: number } | null {
    const [, id = "", time = "", signature = ""] = FORM.exec(mark) ?? [];
    const given = Buffer.from(signature, "base64url");
    const issuedAt = Number(time);
    const isCurrent = issuedAt > now() - KNOWN_BROWSER_MS && issuedAt <= now() + CLOCK_SLACK_MS;
    if (!isCurrent || given.length !== 32) return null;
    return secrets.some((secret) => timingSafeEqual(sign(secret, `${id}.${time}`), given)) ? { id, issuedAt } : null;
  }

  return {
    /** Creates the mark of a browser, with a new id unless the browser has one. */
    issue(id: string = randomBytes(16).toString("base64url")): string {
      const text = `${id}.${now()}`;
      return `${text}.${sign(secrets[0] as string, text).toString("base64url")}`;
    },
    /** The id of the newest of these marks that is genuine, at most 30 days old, and not revoked. */
    async read(marks: readonly string[]): Promise<string | null> {
      const [newest] = marks
        .map(genuine)
        .filter((mark) => mark !== null)
        .sort((a, b) => b.issuedAt - a.issuedAt);
      if (newest === undefined || (await store.isKnown(REVOCATION, newest.issuedAt))) return null;
      return newest.id;
    },
  };
}

/**
 * The marks of browsers that have logged in. A mark lets its browser guess apart from all others, so that nobody uses
 * up its guesses. It gives no other right.
 */
export type BrowserMarks = ReturnType<typeof createBrowserMarks>;

/** Revokes all marks that were issued until now. */
export function revokeBrowserMarks(store: Pick<ThrottleStore, "remember">, now: number): Promise<void> {
  return store.remember(REVOCATION, now);
}
