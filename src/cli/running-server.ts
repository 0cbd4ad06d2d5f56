import { join } from "node:path";
import { describeError, OperatorError } from "../errors.ts";
import { INSTANCE_FILE, type Instance, readInstance } from "../http/instance.ts";
import { instanceOfAnswer } from "../http/operations.ts";
import { ask } from "./ask.ts";

/** The server that runs on a data directory, and the status that its `/readyz` gave. */
export interface RunningServer extends Instance {
  status: number;
}

/** Asks the server of a data directory whether it is ready. Throws {@link OperatorError} when it does not answer, or another does. */
export async function askServer(dataDir: string, timeoutMs: number): Promise<RunningServer> {
  const instance = readInstance(dataDir);
  if (instance === null)
    throw new OperatorError(
      `${join(dataDir, INSTANCE_FILE)} is not there: start the server, or name its directory in DATA_DIR`,
      1,
    );
  const url = `${instance.url}/readyz`;
  const { status, text } = await ask({ url, isOurs: true, timeoutMs }).catch((error: unknown) => {
    throw new OperatorError(`${url} does not answer (${describeError(error)}): is the server running?`, 1);
  });
  if (instanceOfAnswer(text) !== instance.id) {
    const who = "another server than the one that was started on this DATA_DIR";
    throw new OperatorError(`${url} is answered by ${who}: stop it, and start this one again`, 1);
  }
  return { ...instance, status };
}
