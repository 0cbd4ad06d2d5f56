import { passkeySiteOf } from "../auth/factors/passkeys.ts";
import { digestOfInvitationKey, newInvitationKey } from "../auth/invitations.ts";
import type { Person } from "../auth/people/people.ts";
import { INVITATION_MS } from "../auth/people/store.ts";
import type { Settings } from "../config/settings.ts";
import { formatDuration } from "../config/units.ts";
import { OperatorError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { findPerson } from "./known-people.ts";
import { makeChange } from "./make-change.ts";
import { printData, printJson, sayOrLog } from "./output.ts";
import { withStores } from "./stores.ts";

const SETTINGS = ["PUBLIC_URL", "PASSKEY_RP_ID", "COOKIE_DOMAIN"] as const;

/** Prints a link with which a person adds a passkey or sets a password, this once. It replaces an earlier one. */
export function runPeopleInvite(name: string, { json }: { json?: boolean }): Promise<void> {
  return withStores(async (stores) => {
    const { settings, now } = stores;
    const person = await findPerson(stores, name);
    if (person.account === "") {
      const found = `${name} is the person of DEMO_EMAIL, who has a password in the environment`;
      throw new OperatorError({ found, remedy: "log in with it, and add passkeys on the page /account" }, 1);
    }
    const publicUrl = publicUrlFor(person, settings);
    const key = newInvitationKey();
    const expiresAt = now() + INVITATION_MS;
    await makeChange(stores, {
      action: "person.invite",
      asked: { person: name },
      make: () => stores.people.invite(person.account, digestOfInvitationKey(key) as string, expiresAt),
      outcome: (invited) => (invited ? {} : null),
    });
    const url = `${publicUrl}/invite?${new URLSearchParams({ key })}`;
    if (json) printJson({ name, url, expiresAt: isoTime(expiresAt) });
    else printData(url);
    const words = `The link works once, for ${formatDuration(INVITATION_MS)}, in the first browser that opens it. It is shown this once.`;
    sayOrLog({ event: "person_invited", person: name }, words);
  }, SETTINGS);
}

/** The address of the pages. Throws {@link OperatorError} if there is none, or if the person could do nothing there. */
function publicUrlFor(
  { name, passwordHash }: Person,
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
