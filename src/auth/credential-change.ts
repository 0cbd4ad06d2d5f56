import { hash } from "node:crypto";
import { once } from "../lib/once.ts";
import type { Log } from "../log.ts";
import { forEachPerson, type People, type Person } from "./people/people.ts";
import type { SessionStore } from "./sessions.ts";

/** The fingerprint of what opens the sessions of a person. */
function fingerprintOf({ email, passwordHash, mark }: Person): string {
  return hash("sha256", `${passwordHash?.encoded ?? ""} ${email}${mark === "" ? "" : ` ${mark}`}`);
}

/**
 * Wraps a store: a changed password or e-mail ends the session that the old one opened, even if it changed while no
 * server ran. This happens before the first call about a person reaches the store. Calls wait until it has succeeded,
 * and fail if it fails.
 */
export function revokeOnCredentialChange(sessions: SessionStore, people: People, log: Log): SessionStore {
  const revokeFor = forEachPerson(people, (person) => {
    const { id: userId } = person;
    return once(async () => {
      if (!(await sessions.bind(userId, fingerprintOf(person)))) return;
      const line = { event: "session_revoked" as const, userId, reason: "credentials_changed" };
      log.info(line, "session ended: the password or the e-mail has changed");
    });
  });
  const afterRevocation =
    <Args extends unknown[], Result>(run: (userId: string, ...args: Args) => Promise<Result>) =>
    (userId: string, ...args: Args): Promise<Result> => {
      const person = people.byId(userId);
      return (person && revokeFor(person)()?.then(() => run(userId, ...args))) ?? run(userId, ...args);
    };

  return {
    replace: afterRevocation(sessions.replace),
    extendIf: afterRevocation(sessions.extendIf),
    registerDevice: afterRevocation(sessions.registerDevice),
    proveDevice: afterRevocation(sessions.proveDevice),
    current: afterRevocation(sessions.current),
    find: afterRevocation(sessions.find),
    supersession: afterRevocation(sessions.supersession),
    removeIf: afterRevocation(sessions.removeIf),
    remove: afterRevocation(sessions.remove),
    bind: afterRevocation(sessions.bind),
    check: afterRevocation(sessions.check),
  };
}
