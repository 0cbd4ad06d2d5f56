import { userIdProblem } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import type { OperationContext } from "../operations/operation.ts";
import { revoke, shown } from "../operations/session.ts";
import { commandConfiguration, operate } from "./operate.ts";
import { printData, printJson, say, sayOrLog } from "./output.ts";
import { HERE, type RemoteOptions } from "./remote.ts";

interface SessionOptions {
  json?: boolean;
}

/** Shows the active session of a person. */
export async function runSessionShow(
  person: string | undefined,
  { json, ...remote }: SessionOptions & RemoteOptions,
): Promise<void> {
  requireUserId(person);
  const {
    userId: user,
    sid,
    expiresAt,
  } = await (remote.server === undefined
    ? operate(shown, {}, remote, await askedBy(person))
    : operate(shown, { person }, remote));
  if (json) printJson({ userId: user, active: sid !== null, sid, expiresAt });
  else if (sid !== null) printData(`user ${user} has session ${sid} until ${expiresAt}`);
  else printData(`user ${user} has no active session`);
}

/** Ends the active session of a person. A running server notices it at the next request. */
export async function runSessionRevoke(person: string | undefined, { json }: SessionOptions): Promise<void> {
  requireUserId(person);
  const own = await askedBy(person);
  const { id: user } = own.asker();
  const { revoked } = await operate(revoke, {}, HERE, own);
  if (json) printJson({ userId: user, revoked });
  const words = `The session of user ${user} has ended.`;
  if (revoked) sayOrLog({ event: "session_revoked", userId: user, reason: "command" }, words);
  else if (!json) say(`User ${user} has no active session.`);
}

/** Whose session a command is about. On this machine it may be that of anybody. */
async function askedBy(person: string | undefined): Promise<Pick<OperationContext, "asker">> {
  if (person === undefined) return commandConfiguration;
  const id = (await import("./known-people.ts")).idOfPerson(person);
  return { asker: () => ({ id, email: null }) };
}

function requireUserId(userId: string | undefined): void {
  const problem = userId === undefined ? null : userIdProblem(userId);
  if (problem !== null) throw new OperatorError({ found: "The user id is not usable", remedy: problem });
}
