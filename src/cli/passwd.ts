import { readFileSync, realpathSync, statSync } from "node:fs";
import type { Person } from "../auth/people/people.ts";
import { readEnvironment } from "../config/env-file.ts";
import { SERVICE_FOLDER, settingsPlace } from "../config/service.ts";
import { describeError, OperatorError, systemCode } from "../errors.ts";
import { replaceFile } from "../lib/files.ts";
import { newPasswordHash } from "./hash-password.ts";
import { type KnownPeople, personIn, readKnownPeople } from "./known-people.ts";
import { makeChange, noteChange } from "./make-change.ts";
import { printData, say, sayOrLog } from "./output.ts";
import { withStores, withStoresIfAny } from "./stores.ts";

const ENV_FILE = ".env";
const LINE = /^([ \t]*(?:export[ \t]+)?DEMO_PASSWORD[ \t]*=).*$/m;

/** Sets the password of a person of the file, which ends the session. Without a name it is that of `DEMO_PASSWORD`. */
export async function runPasswd(name: string | undefined, options: { allowWeak?: boolean }): Promise<void> {
  if (name === undefined) return changeDemoPassword(options);
  await withStores(async (stores) => {
    const known = await readKnownPeople(stores);
    const { id } = requireChoosable(personIn(known, name), known);
    const hash = await newPasswordHash(options.allowWeak);
    const hasEnded = await makeChange(stores, {
      action: "person.password",
      asked: { person: id },
      async make() {
        // Before: it must not outlive the old password if something fails. Behind: a login may have been under way.
        const wasLive = await stores.sessions.remove(id);
        if (!(await stores.people.setPassword(id, hash)))
          throw new OperatorError({ found: `${id} was removed meanwhile`, remedy: "see authserve people list" }, 1);
        return (await stores.sessions.remove(id)) || wasLive;
      },
      outcome: (ended) => ({ ended }),
    });
    say(`The password of ${id} is changed.`);
    if (hasEnded)
      sayOrLog({ event: "session_revoked", userId: id, reason: "command" }, `The session of ${id} has ended.`);
  });
}

/** Throws {@link OperatorError} for a person whose password is in the configuration. */
function requireChoosable(person: Person, { entries }: Pick<KnownPeople, "entries">): Person {
  const { name, account } = person;
  const hasHash = entries?.some((entry) => entry.name === name && entry.passwordHash !== null);
  if (hasHash) {
    const remedy = "put a hash of authserve hash-password there, or remove the key, and run authserve reload";
    throw new OperatorError({ found: `The password of ${name} is that of people.${name}.passwordHash`, remedy });
  }
  if (account === "")
    throw new OperatorError({
      found: `The password of ${name} is that of DEMO_PASSWORD`,
      remedy: "run authserve passwd without a name",
    });
  return person;
}

/** Sets a new password in `.env` if it is set there, else prints the line to set. A service has the hash in a file. */
async function changeDemoPassword({ allowWeak }: { allowWeak?: boolean }): Promise<void> {
  const setElsewhere = ["DEMO_PASSWORD", "DEMO_PASSWORD_FILE"].find((name) => process.env[name]);
  const content = readEnvFile();
  const hash = await newPasswordHash(allowWeak);
  if (settingsPlace() !== "folder") {
    printData(hash);
    say(`Put the line above into ${SERVICE_FOLDER}/demo_password, and run: systemctl restart authserve`);
    return;
  }
  const value = `'${hash}'`;
  if (setElsewhere !== undefined || content === null || !LINE.test(content)) {
    printData(`DEMO_PASSWORD=${value}`);
    const where =
      setElsewhere === undefined
        ? ".env does not set DEMO_PASSWORD. Set the line above where you keep it"
        : `${setElsewhere} in the environment overrides .env. Set the line above there`;
    say(`${where}, then restart the server. That ends the session.`);
    return;
  }
  await noteIfStored();
  replaceEnvFile(content.replace(LINE, (_, name: string) => name + value));
  say("Wrote the hash of the new password to .env. Restart the server to use it. That ends the session.");
}

/** Writes the change to the audit before it is made. A store that cannot be used must not prevent it. */
async function noteIfStored(): Promise<void> {
  try {
    await withStoresIfAny(readEnvironment(), (stores) => noteChange(stores, "password.change", {}));
  } catch (error) {
    say(`Warning: the audit does not have this change (${describeError(error)}).`);
  }
}

function readEnvFile(): string | null {
  try {
    return readFileSync(ENV_FILE, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw new OperatorError(
      { found: `.env cannot be read (${systemCode(error)})`, remedy: "run this as its owner" },
      1,
    );
  }
}

/** Replaces `.env`, or the file that it is a link to. */
function replaceEnvFile(content: string): void {
  try {
    const file = realpathSync(ENV_FILE);
    replaceFile(file, content, { mode: statSync(file).mode & 0o777, flush: true });
  } catch (error) {
    const remedy = "run this as its owner; nothing was changed";
    throw new OperatorError({ found: `.env cannot be written (${systemCode(error)})`, remedy }, 1);
  }
}
