import { userIdProblem } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { revoke, shown } from "../operations/session.ts";
import { commandConfiguration, operate } from "./operate.ts";
import { printData, printJson, say, sayOrLog } from "./output.ts";
import { HERE, type RemoteOptions } from "./remote.ts";

interface SessionOptions {
  json?: boolean;
}

/** Shows the active session of a user. */
export async function runSessionShow(
  userId: string | undefined,
  { json, ...remote }: SessionOptions & RemoteOptions,
): Promise<void> {
  requireUserId(userId);
  const own = userId === undefined ? {} : { userId: () => userId };
  const { userId: user, sid, expiresAt } = await operate(shown, {}, remote, own);
  if (userId !== undefined && userId !== user)
    throw new OperatorError({ found: `The user of the server is ${user}`, remedy: "leave the user id out" });
  if (json) printJson({ userId: user, active: sid !== null, sid, expiresAt });
  else if (sid !== null) printData(`user ${user} has session ${sid} until ${expiresAt}`);
  else printData(`user ${user} has no active session`);
}

/** Ends the active session of a user. A running server notices it at the next request. */
export async function runSessionRevoke(userId: string | undefined, { json }: SessionOptions): Promise<void> {
  requireUserId(userId);
  const user = userId ?? commandConfiguration.userId();
  const { revoked } = await operate(revoke, {}, HERE, { userId: () => user });
  if (json) printJson({ userId: user, revoked });
  const words = `The session of user ${user} has ended.`;
  if (revoked) sayOrLog({ event: "session_revoked", userId: user, reason: "command" }, words);
  else if (!json) say(`User ${user} has no active session.`);
}

function requireUserId(userId: string | undefined): void {
  const problem = userId === undefined ? null : userIdProblem(userId);
  if (problem !== null) throw new OperatorError({ found: "The user id is not usable", remedy: problem });
}
