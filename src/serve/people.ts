import { randomUUID } from "node:crypto";
import { createPeople, othersOf, type PersonEntry } from "../auth/people/people.ts";
import type { MarkedPerson, TakenPerson } from "../auth/people/store.ts";
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
  /** Who was removed since the stores have last answered, and may have been added again. */
  const removed: MarkedPerson[] = [];
  /** Ids of nobody, whose sessions are still to be ended. */
  const gone = new Set<string>();
  let entries: readonly PersonEntry[] | null = null;
  let isTaken = true;
  let repetition: Repetition | undefined;
  let turns = Promise.resolve();

  const wanted = () =>
    othersOf({ email }, entries ?? []).map((one) => ({ id: one.name, email: canonicalEmail(one.email) }));
  const isSame = (one: TakenPerson) => (other: TakenPerson) => one.id === other.id && one.email === other.email;

  /** From then on, whoever is removed is nobody. */
  function use(next: readonly PersonEntry[] | null): void {
    const before = wanted();
    entries = next;
    for (const old of before)
      if (!wanted().some(isSame(old))) {
        const mark = marks.get(old.id);
        if (mark !== undefined) removed.push({ id: old.id, mark });
        marks.delete(old.id);
      }
    people.set(entries, marks);
    isTaken = false;
  }

  async function take(): Promise<void> {
    const asked = entries;
    for (const id of await stores.people.take(wanted(), [...removed], randomUUID())) {
      log.info({ event: "person_removed", person: id }, `${id} was removed, with all that was stored`);
      gone.add(id);
    }
    for (const id of gone) {
      if (await stores.sessions.remove(id))
        log.info(
          { event: "session_revoked", userId: id, reason: "person_removed" },
          "session ended: the person is gone",
        );
      gone.delete(id);
    }
    const known = await readMarks();
    // The file was read again meanwhile.
    if (asked !== entries) return take();
    removed.length = 0;
    marks.clear();
    for (const [id, mark] of known) marks.set(id, mark);
    people.set(entries, marks);
    isTaken = true;
    // Ends sessions that a new password invalidates.
    for (const { id, account } of people.list()) if (account !== "") void stores.sessions.check(id).catch(() => {});
  }

  /** The marks of those who are stored as the file has them: another server may have another e-mail for an id. */
  async function readMarks(): Promise<Map<string, string>> {
    const known = (await stores.people.list()).filter((one) => wanted().some(isSame(one)));
    return new Map(known.map(({ id, mark }) => [id, mark]));
  }

  /** Whether another server, whose file was an older one, has changed what this one took over. */
  async function isUndone(): Promise<boolean> {
    if (stores.shared === null || entries === null) return false;
    const known = await readMarks();
    return wanted().some(({ id }) => known.get(id) !== marks.get(id));
  }

  /** Takes the people over if that is due, after earlier calls. */
  function turn(): Promise<void> {
    const run = async () => {
      if (!isTaken || (await isUndone())) await take();
    };
    turns = turns.then(run, run);
    return turns;
  }

  return {
    async start() {
      use(config.current?.people ?? null);
      // A file that is missing by mistake must not remove everybody.
      isTaken = config.current === null;
      repetition = repeat(turn, {
        firstMs: 0,
        everyMs: AGAIN_MS,
        onError: (error) =>
          log.warn({ event: "people_not_taken", error }, "the people of the file could not be stored; trying again"),
      });
      await repetition.ended();
    },
    apply(file) {
      use(file?.people ?? null);
      // After a failure the repetition tries again, and tells of it.
      turn().catch(() => {});
    },
    async stop() {
      await repetition?.stop();
      await turns.catch(() => {});
    },
  };
}
