import { forEachPerson, type People, type Person, signedCredentialOf } from "../people/people.ts";
import { createSignedIds } from "../signed-ids.ts";
import { KNOWN_ADDRESS_MS, type ThrottleStore } from "./store.ts";

/** How long a browser is known after a login. */
export const KNOWN_BROWSER_MS = KNOWN_ADDRESS_MS;

// Servers that share sessions read clocks that may differ.
const CLOCK_SLACK_MS = 60_000;

// The store keeps when it was written for at least as long as a mark lasts.
const REVOCATION = "browsers-revoked";

/**
 * Creates the marks. Another password, e-mail or secret makes those of a person worthless. The first secret signs.
 * `now` is in Unix milliseconds.
 */
export function createBrowserMarks(
  secrets: readonly string[],
  people: People,
  store: Pick<ThrottleStore, "isKnown">,
  now: () => number,
) {
  const idsOf = forEachPerson(people, (person) => {
    const { email, passwordHash } = signedCredentialOf(person);
    return createSignedIds(secrets, 16, (id, time) => ["browser mark", email, passwordHash, `${id}.${time}`]);
  });
  const isCurrent = (at: number) => at > now() - KNOWN_BROWSER_MS && at <= now() + CLOCK_SLACK_MS;
  return {
    /** Creates the mark of a person's browser, with a new id unless the browser has one. */
    issue: (person: Person, id?: string) => idsOf(person).issue(now(), id).value,
    /** The newest of these marks that is genuine, at most 30 days old, and not revoked. */
    async read(marks: readonly string[]): Promise<{ id: string; person: Person } | null> {
      if (marks.length === 0) return null;
      const found = people.list().flatMap((person) => {
        const newest = idsOf(person).newest(marks, isCurrent);
        return newest === null ? [] : { ...newest, person };
      });
      const [newest] = found.sort((one, other) => other.time - one.time);
      return newest === undefined || (await store.isKnown(REVOCATION, newest.time)) ? null : newest;
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
