import { join } from "node:path";
import { remedyAt } from "../config/service.ts";
import { describeError, OperatorError } from "../errors.ts";
import { instanceOfAnswer } from "../http/health.ts";
import { INSTANCE_FILE, type Instance, readInstance } from "../http/instance.ts";
import { sendRequest } from "../lib/send-request.ts";

/** The server on a data directory, with the status of its `/readyz`. */
export interface ProbedServer extends Instance {
  status: number;
}

/**
 * Requests `/readyz` of the server on a data directory. Throws {@link OperatorError} if it, or another server, does not
 * answer as expected.
 */
export async function probeServer(dataDir: string, timeoutMs: number): Promise<ProbedServer> {
  const instance = readInstance(dataDir);
  if (instance === null) {
    const found = `${join(dataDir, INSTANCE_FILE)} does not exist`;
    const remedy = remedyAt({
      folder: "start the server, or set DATA_DIR to its directory",
      service: "see why it does not run: journalctl -u authserve -n 20",
    });
    throw new OperatorError({ found, remedy }, 1);
  }
  const url = `${instance.url}/readyz`;
  const { status, text } = await sendRequest({ url, isLocal: true, timeoutMs }).catch((error: unknown) => {
    throw noAnswer(url, error);
  });
  if (instanceOfAnswer(text) !== instance.id) {
    const found = `${url} is answered by another server than that of this DATA_DIR`;
    throw new OperatorError({ found, remedy: "stop the other server, and start this one again" }, 1);
  }
  return { ...instance, status };
}

/** The error for a request that got no response. */
export function noAnswer(url: string, error: unknown): OperatorError {
  const found = `${url} does not answer (${describeError(error)})`;
  return new OperatorError({ found, remedy: "start the server, or see its log" }, 1);
}
