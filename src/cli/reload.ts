import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readSettings } from "../config/settings.ts";
import { OperatorError, systemCode } from "../errors.ts";
import { type Instance, pidNamespace, readInstance } from "../http/instance.ts";
import { printData, printJson } from "./output.ts";
import { probeServer } from "./running-server.ts";

const POLL_INTERVAL_MS = 20;

/** Reading a file takes milliseconds. A server that is very busy may take longer to answer. */
const TIMEOUT_MS = 30_000;

/**
 * Lets the server on this DATA_DIR read its configuration file again, and prints whether it uses the file. Throws
 * {@link OperatorError} with the exit code 1 if it does not, and if there is no such server.
 */
export async function runReload({ json }: { json?: boolean }): Promise<void> {
  const { DATA_DIR: dataDir } = readSettings(readEnvironment(), ["DATA_DIR"]);
  // It answers with the id that the file has, so the process in the file is alive and is this server.
  const before = await probeServer(dataDir, TIMEOUT_MS);
  hangUp(processOf(before));
  const { configFault: fault, reload } = await reloaded(dataDir, before);
  const isUsed = fault === null;
  if (json) {
    printJson({ file: reload.file, used: isUsed, fault });
    if (!isUsed) process.exitCode = 1;
    return;
  }
  if (!isUsed) {
    const found = `The server goes on with the configuration before: ${fault}`;
    throw new OperatorError({ found, remedy: "correct the file; the server then takes it up by itself" }, 1);
  }
  printData(reload.file === null ? "The server has no configuration file" : `The server uses ${reload.file}`);
}

/** The pid of a server that reads the file again at SIGHUP. Throws {@link OperatorError} for any other. */
function processOf({ url, process: server }: Instance): number {
  if (server === null) {
    const found = `the server at ${url} is starting, or runs at a terminal, where SIGHUP would end it`;
    throw new OperatorError({ found, remedy: "try again, or start it once more to change its secrets" }, 1);
  }
  if (server.namespace !== pidNamespace()) {
    const found = `the server at ${url} runs in another container`;
    throw new OperatorError({ found, remedy: "run this command in its container" }, 1);
  }
  return server.pid;
}

function hangUp(pid: number): void {
  try {
    process.kill(pid, "SIGHUP");
  } catch (error) {
    const found = `the server's process ${pid} gets no signal (${systemCode(error)})`;
    throw new OperatorError({ found, remedy: "run this as the server's user" }, 1);
  }
}

/** Resolves when the server has read the file. Throws {@link OperatorError} if it stops, or does not answer in time. */
async function reloaded(dataDir: string, { id, url, reload }: Instance): Promise<Instance> {
  const givesUpAt = performance.now() + TIMEOUT_MS;
  while (performance.now() < givesUpAt) {
    const now = readInstance(dataDir);
    if (now?.id !== id) break;
    if (now.reload.count > reload.count) return now;
    await delay(POLL_INTERVAL_MS);
  }
  const found = `the server at ${url} stopped, or did not read the file in time`;
  throw new OperatorError({ found, remedy: "see its log" }, 1);
}
