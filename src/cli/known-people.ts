import {
  type EnvironmentPerson,
  othersOf,
  type Person,
  type PersonEntry,
  peopleOf,
  personNamed,
} from "../auth/people/people.ts";
import { canonicalEmail } from "../auth/user.ts";
import { readEnvironment } from "../config/env-file.ts";
import { configFileName, readPeopleOf } from "../config/file/config-file.ts";
import { readSettings } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import type { Stores } from "../stores.ts";

// Who can log in, by the settings and the file of this machine. Each function throws `SettingsError` if these are not
// usable.

export interface KnownPeople {
  /** Everybody who can log in, the person of the environment first. */
  people: readonly Person[];
  /** The people of the file. Null: it has none. */
  entries: readonly PersonEntry[] | null;
  /** The names of those whom no server has taken over yet. */
  waiting: readonly string[];
}

/** Reads who can log in, and who is to. */
export async function readKnownPeople({ people: store }: Pick<Stores, "people">): Promise<KnownPeople> {
  const { environment, entries } = readConfigured();
  const others = othersOf(environment, entries ?? []);
  const records = others.length === 0 ? [] : await store.list();
  const taken = others.flatMap(({ name, email }) =>
    records.filter((record) => record.id === name && record.email === canonicalEmail(email)),
  );
  const marks = new Map(taken.map(({ id, mark }) => [id, mark]));
  const waiting = others.filter(({ name }) => !marks.has(name)).map(({ name }) => name);
  return { people: peopleOf(environment, entries, marks), entries, waiting };
}

/** Everybody who can log in. */
export const readPeople = async (stores: Pick<Stores, "people">): Promise<readonly Person[]> =>
  (await readKnownPeople(stores)).people;

/** The person with a name or an id. Throws {@link OperatorError} if there is none who can log in. */
export async function findPerson(stores: Pick<Stores, "people">, name: string): Promise<Person> {
  return personIn(await readKnownPeople(stores), name);
}

/** One of these people, see {@link findPerson}. */
export function personIn({ people, waiting }: Omit<KnownPeople, "entries">, name: string): Person {
  const found = personNamed(people, name);
  if (found !== undefined) return found;
  if (waiting.includes(name)) throw new OperatorError(faultOfWaiting([name]));
  const remedy = `name one of ${people.map((person) => person.name).join(", ")}`;
  throw new OperatorError({ found: `There is no person ${name}`, remedy });
}

/** The id of the person with a name or an id. Without people in the file it may be any id. */
export function idOfPerson(name: string): string {
  const entries = readPeopleOf(readEnvironment());
  if (entries === null) return name;
  const people = peopleOf(readConfigured().environment, entries, new Map(entries.map((entry) => [entry.name, ""])));
  return personIn({ people, waiting: [] }, name).id;
}

/** Why people of the file cannot log in yet, and what to do. */
export const faultOfWaiting = (names: readonly string[]) => ({
  found: `No server has taken over ${names.join(", ")} of ${configFileName(readEnvironment())}`,
  remedy: "start the server, or run authserve reload",
});

function readConfigured(): { environment: EnvironmentPerson; entries: readonly PersonEntry[] | null } {
  const environment = readEnvironment();
  const { DEMO_USER_ID: id, DEMO_EMAIL: email } = readSettings(environment, ["DEMO_USER_ID", "DEMO_EMAIL"]);
  // Only a server needs the hash, which a service may keep from commands.
  return { environment: { id, email, passwordHash: null }, entries: readPeopleOf(environment) };
}
