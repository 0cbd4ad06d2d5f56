import { createSignedIds } from "../signed-ids.ts";
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

/** Creates the marks. `now` is in Unix milliseconds. */
export function createBrowserMarks(
  { secrets, email, passwordHash }: MarkCredential,
  store: Pick<ThrottleStore, "isKnown">,
  now: () => number,
) {
  const ids = createSignedIds(secrets, 16, (id, time) => ["browser mark", email, passwordHash, `${id}.${time}`]);
  return {
    /** Creates the mark of a browser, with a new id unless the browser has one. */
    issue: (id?: string) => ids.issue(now(), id).value,
    /** The id of the newest of these marks that is genuine, at most 30 days old, and not revoked. */
    async read(marks: readonly string[]): Promise<string | null> {
      const isCurrent = (at: number) => at > now() - KNOWN_BROWSER_MS && at <= now() + CLOCK_SLACK_MS;
      const newest = ids.newest(marks, isCurrent);
      return newest === null || (await store.isKnown(REVOCATION, newest.time)) ? null : newest.id;
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
