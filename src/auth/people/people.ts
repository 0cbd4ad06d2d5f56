import { AppError } from "../../errors.ts";
import type { PasswordHash } from "../password-hash.ts";
import { canonicalEmail, type User } from "../user.ts";

/** A person of the configuration file. */
export interface PersonEntry {
  /** The key in the file. */
  name: string;
  email: string;
  displayName: string | null;
  groups: readonly string[];
  isOwner: boolean;
  /** Null: the person has a passkey only, or a password in the store. */
  passwordHash: PasswordHash | null;
}

/** Who can log in. `id` is that of sessions and tokens. */
export interface Person extends PersonEntry, User {
  /**
   * Under which the stores keep factors and logins: empty for the person of the environment, whose id may change, else
   * the id.
   */
  account: string;
  /**
   * Differs if a person was removed and added again. Nobody else knows it. Empty for the person of the environment.
   */
  mark: string;
  /** Whether the file has the person. All others are the person of the environment. */
  isListed: boolean;
}

/** The one person that the environment names. */
export interface EnvironmentPerson extends User {
  /** Null in a command, which does not need it. */
  passwordHash: PasswordHash | null;
}

/** Most people in the file. */
export const MAX_PEOPLE = 10;

/**
 * Everybody who can log in: the person of the environment first, then those of the file. One of the file with the
 * e-mail of the environment is that person, keeps its id, and always is an owner. `entries` is null without `people` in
 * the file, and `marks` has those who were taken into the store.
 */
export function peopleOf(
  environment: EnvironmentPerson,
  entries: readonly PersonEntry[] | null,
  marks: ReadonlyMap<string, string>,
): Person[] {
  const { id, email, passwordHash } = environment;
  const isEnvironment = (entry: PersonEntry) => canonicalEmail(entry.email) === canonicalEmail(email);
  const listed = entries?.find(isEnvironment);
  const plain = { name: id, displayName: null, groups: [] };
  const own = { id, email, isOwner: true, account: "", mark: "", isListed: listed !== undefined };
  const first = { ...plain, ...listed, ...own };
  const others = othersOf(environment, entries ?? []).flatMap((entry) => {
    const mark = marks.get(entry.name);
    return mark === undefined ? [] : [{ ...entry, id: entry.name, account: entry.name, mark, isListed: true }];
  });
  return [{ ...first, passwordHash: listed?.passwordHash ?? passwordHash }, ...others];
}

/** The people of the file besides the person of the environment. */
export const othersOf = <Entry extends Pick<PersonEntry, "email">>(
  { email }: Pick<EnvironmentPerson, "email">,
  entries: readonly Entry[],
): Entry[] => entries.filter((entry) => canonicalEmail(entry.email) !== canonicalEmail(email));

/** Who can log in now. */
export interface People {
  /** The person of the environment first. */
  list(): readonly Person[];
  byId(id: string): Person | null;
  /** The person with an e-mail in canonical form. */
  byEmail(email: string): Person | null;
  /** Whether the configuration file names people. */
  areNamed(): boolean;
}

/** People whose number changes with the configuration file. Who has not changed stays the same object. */
export interface ChangingPeople extends People {
  /** See {@link peopleOf}. */
  set(entries: readonly PersonEntry[] | null, marks: ReadonlyMap<string, string>): void;
}

/** Creates the look-up of people. At first there is only the person of the environment. */
export function createPeople(environment: EnvironmentPerson): ChangingPeople {
  let [people, areNamed]: [readonly Person[], boolean] = [peopleOf(environment, null, new Map()), false];
  let [ids, emails] = [new Map<string, Person>(), new Map<string, Person>()];
  function index(next: readonly Person[]): void {
    people = next;
    ids = new Map(people.map((person) => [person.id, person]));
    emails = new Map(people.map((person) => [canonicalEmail(person.email), person]));
  }
  index(people);
  return {
    list: () => people,
    byId: (id) => ids.get(id) ?? null,
    byEmail: (email) => emails.get(email) ?? null,
    areNamed: () => areNamed,
    set(entries, marks) {
      areNamed = entries !== null;
      const isSame = (one: Person) => (other: Person) => JSON.stringify(one) === JSON.stringify(other);
      index(peopleOf(environment, entries, marks).map((person) => people.find(isSame(person)) ?? person));
    },
  };
}

/** The person with this name or id. */
export const personNamed = (people: readonly Person[], name: string): Person | undefined =>
  people.find((person) => person.name === name || person.id === name);

/** Makes something for each person once, until the person is removed or changed. */
export function forEachPerson<Made>(people: People, make: (person: Person) => Made): (person: Person) => Made {
  const made = new Map<Person, Made>();
  return (person) => {
    const known = made.get(person);
    if (known !== undefined) return known;
    for (const old of made.keys()) if (!people.list().includes(old)) made.delete(old);
    const next = make(person);
    made.set(person, next);
    return next;
  };
}

/** What the cookies of a person are signed with: another one makes them worthless. */
export function signedCredentialOf({ email, passwordHash, mark }: Person): { email: string; passwordHash: string } {
  return { email: canonicalEmail(email), passwordHash: (passwordHash?.encoded ?? "") + mark };
}

/** Whether a person has not been removed, and has the same e-mail and password. */
export function isUnchanged(people: Pick<People, "byId">, person: Person): boolean {
  const now = people.byId(person.id);
  return now !== null && JSON.stringify(signedCredentialOf(now)) === JSON.stringify(signedCredentialOf(person));
}

/** Throws `owner_only` for anybody else than an owner, to whom all belongs that is not a person's own. */
export function requireOwner(person: Person | null): asserts person is Person {
  if (!person?.isOwner) throw new AppError("owner_only");
}

const SEPARATOR = "/";

/** Whose the token of a program is: the person's before the `/` of its name, or else that of the environment. */
export function personOfToken(people: readonly Person[], name: string): Person | null {
  const at = name.indexOf(SEPARATOR);
  const account = at === -1 ? "" : name.slice(0, at);
  return people.find((person) => person.account === account) ?? null;
}

/** Whether a token is one of a person's own. */
export const isTokenOf = ({ account }: Pick<Person, "account">, name: string) =>
  account === "" ? !name.includes(SEPARATOR) : name.startsWith(account + SEPARATOR);
