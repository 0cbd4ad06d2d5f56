import { passkeySiteOf } from "../auth/factors/passkeys.ts";
import { digestOfInvitationKey, newInvitationKey } from "../auth/invitations.ts";
import { othersOf, type PersonEntry } from "../auth/people/people.ts";
import { INVITATION_MS } from "../auth/people/store.ts";
import { canonicalEmail } from "../auth/user.ts";
import { readEnvironment } from "../config/env-file.ts";
import { readConfigFile } from "../config/file/config-file.ts";
import type { Settings } from "../config/settings.ts";
import { formatDuration } from "../config/units.ts";
import { OperatorError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { makeChange } from "./make-change.ts";
import { printData, printJson, sayOrLog } from "./output.ts";
import { type CommandStores, withStores } from "./stores.ts";

const SETTINGS = ["DEMO_EMAIL", "PUBLIC_URL", "PASSKEY_RP_ID", "COOKIE_DOMAIN"] as const;

/** Prints a link with which a person adds a passkey or sets a password, this once. It replaces an earlier one. */
export function runPeopleInvite(name: string, { json }: { json?: boolean }): Promise<void> {
  const people = readConfigFile(readEnvironment())?.people ?? [];
  return withStores(async (stores) => {
    const { settings, now } = stores;
    const person = personNamed(name, people, settings);
    const publicUrl = publicUrlFor(person, settings);
    await requireTaken(person, stores);
    const key = newInvitationKey();
    const expiresAt = now() + INVITATION_MS;
    const isInvited = await makeChange(stores, {
      action: "person.invite",
      asked: { person: name },
      make: () => stores.people.invite(name, digestOfInvitationKey(key) as string, expiresAt),
      outcome: (invited) => (invited ? {} : null),
    });
    if (!isInvited) throw notTaken(name);
    const url = `${publicUrl}/invite?${new URLSearchParams({ key })}`;
    if (json) printJson({ name, url, expiresAt: isoTime(expiresAt) });
    else printData(url);
    const words = `The link works once, for ${formatDuration(INVITATION_MS)}, in the first browser that opens it. It is shown this once.`;
    sayOrLog({ event: "person_invited", person: name }, words);
  }, SETTINGS);
}

/** Throws {@link OperatorError} unless it is a person of the file, and not that of the environment. */
function personNamed(
  name: string,
  people: readonly PersonEntry[],
  { DEMO_EMAIL: email }: Pick<Settings, "DEMO_EMAIL">,
): PersonEntry {
  const others = othersOf({ email }, people);
  const person = others.find((one) => one.name === name);
  if (person !== undefined) return person;
  if (people.some((one) => one.name === name)) {
    const found = `${name} is the person of DEMO_EMAIL, who has a password in the environment`;
    throw new OperatorError({ found, remedy: "log in with it, and add passkeys on the page /account" }, 1);
  }
  const names = others.map((one) => one.name).join(", ");
  const remedy =
    names === "" ? "add somebody to people in the configuration file" : `name one of people in the file: ${names}`;
  throw new OperatorError({ found: `There is no person ${name}`, remedy }, 1);
}

/** The address of the pages. Throws {@link OperatorError} if there is none, or if the person could do nothing there. */
function publicUrlFor(
  { name, passwordHash }: PersonEntry,
  { PUBLIC_URL: publicUrl, ...settings }: Pick<Settings, (typeof SETTINGS)[number]>,
): string {
  if (publicUrl === undefined) {
    const remedy = "set it to the address of the login page, and restart the server";
    throw new OperatorError({ found: "A link needs PUBLIC_URL, which is not set", remedy });
  }
  if (passwordHash !== null && passkeySiteOf(publicUrl, settings) === null) {
    const found = `${name} has a password in the configuration file, and browsers allow no passkeys at PUBLIC_URL`;
    throw new OperatorError({
      found,
      remedy: `remove passwordHash of ${name}, or set PUBLIC_URL to an https URL with a name`,
    });
  }
  return publicUrl;
}

/** Throws {@link OperatorError} unless a server has taken over the person with this e-mail. */
async function requireTaken({ name, email }: PersonEntry, { people }: Pick<CommandStores, "people">): Promise<void> {
  const known = (await people.list()).find(({ id }) => id === name);
  if (known?.email !== canonicalEmail(email)) throw notTaken(name);
}

function notTaken(name: string): OperatorError {
  const found = `No server has taken ${name} over from the configuration file yet`;
  return new OperatorError({ found, remedy: "start the server, or run authserve reload, and invite again" }, 1);
}
