import { randomUUID } from "node:crypto";
import { createPeople, othersOf, type PersonEntry } from "../auth/people/people.ts";
import { canonicalEmail } from "../auth/user.ts";
import type { Settings } from "../config/settings.ts";
import { type Repetition, repeat } from "../lib/repeat.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

/** The look-up of people. Those of the file come with {@link openPeople}. */
export function createPeopleOf({ DEMO_USER_ID: id, DEMO_EMAIL: email, DEMO_PASSWORD: passwordHash }: Settings) {
  return createPeople({ id, email, passwordHash });
}

const AGAIN_MS = 5000;

/**
 * Takes over the people of the configuration file. Whoever is removed can do nothing from then on, and loses all that
 * is stored, as soon as the stores answer; whoever is new can log in then.
 */
export function openPeople({ settings, config, stores, people, log }: Wiring): Part {
  const { DEMO_EMAIL: email } = settings;
  const marks = new Map<string, string>();
  /** Who was removed since the stores have last answered. */
  const removed = new Set<string>();
  let entries: readonly PersonEntry[] | null = null;
  let isTaken = true;
  let taking: Repetition | undefined;

  const wanted = () =>
    othersOf({ email }, entries ?? []).map((one) => ({ id: one.name, email: canonicalEmail(one.email) }));

  function use(next: readonly PersonEntry[] | null): void {
    const before = othersOf({ email }, entries ?? []);
    const isSame = (one: PersonEntry, other: PersonEntry) =>
      one.name === other.name && canonicalEmail(one.email) === canonicalEmail(other.email);
    entries = next;
    for (const old of before)
      if (!othersOf({ email }, next ?? []).some((one) => isSame(one, old))) {
        removed.add(old.name);
        marks.delete(old.name);
      }
    people.set(entries, marks);
    isTaken = false;
  }

  async function take(): Promise<void> {
    const asked = entries;
    const gone = [...removed];
    for (const id of await stores.people.take(wanted(), gone, randomUUID())) removed.add(id);
    for (const id of removed) {
      if (await stores.sessions.remove(id))
        log.info(
          { event: "session_revoked", userId: id, reason: "person_removed" },
          "session ended: the person is gone",
        );
    }
    const known = await stores.people.list();
    // The file was read again meanwhile.
    if (asked !== entries) return take();
    removed.clear();
    marks.clear();
    for (const { id, mark } of known) marks.set(id, mark);
    people.set(entries, marks);
    isTaken = true;
    // Ends sessions that a new password invalidates.
    for (const { id, account } of people.list()) if (account !== "") void stores.sessions.check(id).catch(() => {});
  }

  /** Whether another server, whose file was an older one, has changed what this one took over. */
  async function isUndone(): Promise<boolean> {
    if (stores.shared === null || entries === null) return false;
    const known = new Map((await stores.people.list()).map(({ id, mark }) => [id, mark]));
    return wanted().some(({ id }) => known.get(id) !== marks.get(id));
  }

  const run = () =>
    repeat(async () => (isTaken && !(await isUndone()) ? undefined : take()), {
      firstMs: 0,
      everyMs: AGAIN_MS,
      onError: (error) =>
        log.warn({ event: "people_not_taken", error }, "the people of the file could not be stored; trying again"),
    });

  async function again(next: readonly PersonEntry[] | null): Promise<void> {
    await taking?.stop();
    use(next);
    taking = run();
    await taking.ended();
  }

  return {
    start: () => again(config.current?.people ?? null),
    apply: (file) => void again(file?.people ?? null),
    stop: () => taking?.stop(),
  };
}
