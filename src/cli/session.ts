import { userIdProblem } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { makeChange } from "./make-change.ts";
import { printData, printJson, say, sayOrLog } from "./output.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { withStores } from "./stores.ts";

interface SessionOptions {
  json?: boolean;
}

/** Shows the active session of a user. */
export async function runSessionShow(
  userId: string | undefined,
  { json, ...remote }: SessionOptions & RemoteOptions,
): Promise<void> {
  requireUserId(userId);
  const server = remoteServer(remote);
  if (server !== null) {
    const { userId: user, sid, expiresAt } = await server.get<RemoteSession>("session");
    if (userId !== undefined && userId !== user)
      throw new OperatorError({ found: `The user of the server is ${user}`, remedy: "leave the user id out" });
    return printSession(user, sid === null ? null : { sid, expiresAt }, json);
  }
  await withStores(async ({ sessions, settings }) => {
    const user = userId ?? settings.DEMO_USER_ID;
    printSession(user, await sessions.find(user), json);
  });
}

interface RemoteSession {
  userId: string;
  sid: string | null;
  expiresAt: number | null;
}

function printSession(
  user: string,
  record: { sid: string; expiresAt: number | null } | null,
  json: boolean | undefined,
): void {
  const expiresAt = isoTime(record?.expiresAt ?? null);
  if (json) printJson({ userId: user, active: record !== null, sid: record?.sid ?? null, expiresAt });
  else if (record) printData(`user ${user} has session ${record.sid} until ${expiresAt}`);
  else printData(`user ${user} has no active session`);
}

/** Ends the active session of a user. A running server notices it at the next request. */
export function runSessionRevoke(userId: string | undefined, { json }: SessionOptions): Promise<void> {
  requireUserId(userId);
  return withStores(async (stores) => {
    const user = userId ?? stores.settings.DEMO_USER_ID;
    const revoked = await makeChange(stores, {
      action: "session.revoke",
      asked: { userId: user },
      make: () => stores.sessions.remove(user),
      outcome: (isRevoked) => (isRevoked ? {} : null),
    });
    if (json) printJson({ userId: user, revoked });
    const words = `The session of user ${user} has ended.`;
    if (revoked) sayOrLog({ event: "session_revoked", userId: user, reason: "command" }, words);
    else if (!json) say(`User ${user} has no active session.`);
  });
}

function requireUserId(userId: string | undefined): void {
  const problem = userId === undefined ? null : userIdProblem(userId);
  if (problem !== null) throw new OperatorError({ found: "The user id is not usable", remedy: problem });
}
