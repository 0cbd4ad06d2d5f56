import { hash } from "node:crypto";
import { once } from "../lib/once.ts";
import type { Log } from "../log.ts";
import type { SessionStore } from "./sessions.ts";

/** What opens the sessions of a user. */
export interface Credential {
  userId: string;
  email: string;
  passwordHash: string;
}

/**
 * The sessions that a password and an e-mail open. Another password or e-mail ends what the old one opened, also when it
 * was changed while no server ran. That is done before anything else is asked of the store: until it has succeeded every
 * call waits for it, and fails when it fails.
 */
export function createBoundSessions(sessions: SessionStore, credential: Credential, log: Log): SessionStore {
  const { userId, email, passwordHash } = credential;
  const fingerprint = hash("sha256", `${passwordHash} ${email}`);
  const bound = once(async () => {
    if (!(await sessions.bind(userId, fingerprint))) return;
    const line = { event: "session_revoked" as const, userId, reason: "credentials_changed" };
    log.info(line, "the password or the e-mail was changed: its session ended");
  });
  const afterwards =
    <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      bound()?.then(() => run(...args)) ?? run(...args);

  return {
    replace: afterwards(sessions.replace),
    current: afterwards(sessions.current),
    find: afterwards(sessions.find),
    supersession: afterwards(sessions.supersession),
    removeIf: afterwards(sessions.removeIf),
    remove: afterwards(sessions.remove),
    bind: afterwards(sessions.bind),
    check: afterwards(sessions.check),
  };
}
