import { systemCode } from "../../errors.ts";
import { type ClaimedJob, idempotencyKeyOf } from "../../events/job.ts";
import { type Command, failureOf, runCommand } from "../../lib/run-command.ts";
import { type Handler, isOutOfDescriptors, TargetError } from "../handler.ts";
import type { HandlerConfig } from "../route.ts";

/**
 * Runs a command for each event. It gets the payload on standard input and the event's identity in its environment;
 * exit code 0 is success.
 */
export function createExecHandler(
  { command: [file, ...args], folder }: Extract<HandlerConfig, { kind: "exec" }>,
  environment: NodeJS.ProcessEnv,
): Handler {
  return {
    async run(job, signal) {
      const env = { ...environment, ...variablesOf(job) };
      const ended = await start({ file, args, folder, environment: env, input: job.payload }, signal);
      if (ended.code === 0) return { response: ended.output };
      throw new TargetError(failureOf(ended), { isUnavailable: false, response: ended.output });
    },
    target: null,
    endsWithSignal: true,
    close: async () => {},
  };
}

async function start(command: Command, signal: AbortSignal) {
  try {
    return await runCommand(command, signal);
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error;
    throw new TargetError(`the command cannot be started (${systemCode(error)})`, { isUnavailable: false });
  }
}

function variablesOf(job: ClaimedJob): NodeJS.ProcessEnv {
  return {
    AUTHSERVE_EVENT_ID: job.eventId,
    AUTHSERVE_EVENT_TYPE: job.type,
    AUTHSERVE_EVENT_SOURCE: job.source,
    AUTHSERVE_ATTEMPT: String(job.countedAttempt),
    AUTHSERVE_IDEMPOTENCY_KEY: idempotencyKeyOf(job),
    AUTHSERVE_ROUTE: job.route,
    AUTHSERVE_CONTENT_TYPE: job.contentType,
  };
}
