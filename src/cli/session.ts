import { userIdProblem } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { revoke, shown } from "../operations/session.ts";
import { commandConfiguration, operate, operateThere } from "./operate.ts";
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
    const { userId: user, sid, expiresAt } = await operateThere(server, shown, {});
    if (userId !== undefined && userId !== user)
      throw new OperatorError({ found: `The user of the server is ${user}`, remedy: "leave the user id out" });
    return printSession(user, { sid, expiresAt }, json);
  }
  const user = userId ?? commandConfiguration.userId();
  await withStores(async ({ sessions }) => {
    const { sid = null, expiresAt = null } = (await sessions.find(user)) ?? {};
    printSession(user, { sid, expiresAt: isoTime(expiresAt) }, json);
  });
}

function printSession(
  user: string,
  { sid, expiresAt }: { sid: string | null; expiresAt: string | null },
  json: boolean | undefined,
): void {
  if (json) printJson({ userId: user, active: sid !== null, sid, expiresAt });
  else if (sid !== null) printData(`user ${user} has session ${sid} until ${expiresAt}`);
  else printData(`user ${user} has no active session`);
}

/** Ends the active session of a user. A running server notices it at the next request. */
export async function runSessionRevoke(userId: string | undefined, { json }: SessionOptions): Promise<void> {
  requireUserId(userId);
  const user = userId ?? commandConfiguration.userId();
  const { revoked } = await operate(revoke, {}, {}, { userId: () => user });
  if (json) printJson({ userId: user, revoked });
  const words = `The session of user ${user} has ended.`;
  if (revoked) sayOrLog({ event: "session_revoked", userId: user, reason: "command" }, words);
  else if (!json) say(`User ${user} has no active session.`);
}

function requireUserId(userId: string | undefined): void {
  const problem = userId === undefined ? null : userIdProblem(userId);
  if (problem !== null) throw new OperatorError({ found: "The user id is not usable", remedy: problem });
}
