import { systemCode } from "../../errors.ts";
import { failureOf, runCommand } from "../../lib/run-command.ts";
import { alertmanagerForm, isFiring, type Sender, titleOf } from "../messages.ts";
import type { Message } from "../store.ts";
import { NotifierError } from "./notifier-error.ts";
import { TIMEOUT_MS } from "./post.ts";

/** A program, which runs in a folder. */
export interface Exec {
  kind: "exec";
  name: string;
  command: readonly string[];
  folder: string;
}

/** Runs a program with a message. Throws {@link NotifierError} unless it exits with 0. */
export async function runProgram(
  { name, command, folder }: Exec,
  message: Message,
  sender: Sender,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const [file = "", ...args] = command;
  const input = JSON.stringify(alertmanagerForm(message, sender, name));
  const status = {
    AUTHSERVE_ALERT_STATUS: isFiring(message) ? "firing" : "resolved",
    AUTHSERVE_ALERT_TITLE: titleOf(message, sender),
  };
  const ended = await runCommand(
    { file, args, folder, environment: { ...environment, ...status }, input },
    AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  ).catch((error: unknown) => {
    throw new NotifierError(`the command cannot be started (${systemCode(error)})`);
  });
  if (ended.code !== 0) throw new NotifierError(failureOf(ended));
}
