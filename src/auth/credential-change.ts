import { hash } from "node:crypto";
import { once } from "../lib/once.ts";
import type { Log } from "../log.ts";
import type { SessionStore } from "./sessions.ts";

/** What a user logs in with. */
interface Credential {
  userId: string;
  email: string;
  passwordHash: string;
}

/**
 * Wraps a store: a changed password or e-mail ends the session that the old one opened, even if it changed while no
 * server ran. This happens before the first call reaches the store. Calls wait until it has succeeded, and fail if it
 * fails.
 */
export function revokeOnCredentialChange(sessions: SessionStore, credential: Credential, log: Log): SessionStore {
  const { userId, email, passwordHash } = credential;
  const fingerprint = hash("sha256", `${passwordHash} ${email}`);
  const revoke = once(async () => {
    if (!(await sessions.bind(userId, fingerprint))) return;
    const line = { event: "session_revoked" as const, userId, reason: "credentials_changed" };
    log.info(line, "session ended: the password or the e-mail has changed");
  });
  const afterRevocation =
    <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      revoke()?.then(() => run(...args)) ?? run(...args);

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
