import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describeError, OperatorError } from "../../../src/errors.ts";
import { timeout } from "../../../src/lib/timeout.ts";
import { COMMAND } from "../../../src/platform/checkout.ts";
import { configurationOf, environmentOf, type ServerOptions, type TargetUrls } from "./configuration.ts";

const START_TIMEOUT_MS = 30_000;
// Longer than the server's own `SHUTDOWN_TIMEOUT`.
const STOP_TIMEOUT_MS = 30_000;

const LOG_LINES_KEPT = 20;

/** A server process. */
export interface ServerProcess {
  /** Resolves with the URL when it serves. Throws {@link OperatorError} if it does not within 30 s. */
  ready(): Promise<string>;
  /** Whether it has not ended. */
  isRunning(): boolean;
  /** Whether {@link kill} was called. */
  isKilled(): boolean;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
  /** Sends SIGTERM and waits for the end. Throws {@link OperatorError} unless it ends well. */
  stop(): Promise<void>;
  /** Makes an error of something that this server did. */
  fault(what: string): OperatorError;
}

/** Starts a server process. */
export function startServer(options: ServerOptions, urls: TargetUrls): ServerProcess {
  const { folder } = options;
  const configFile = join(folder, "authserve.yaml");
  writeFileSync(configFile, configurationOf(urls), { mode: 0o600 });
  const env = environmentOf(options, configFile);
  const child = spawn(COMMAND, ["serve"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own: Ctrl+C in a terminal must not stop the server before this process knows of it.
    detached: true,
  });
  const log = readLog(child);
  const ended = new Promise<string>((resolve) => {
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once("error", (error) => resolve(describeError(error)));
  });
  // This process may end by an error that nothing here handles.
  const killAtExit = () => void child.kill("SIGKILL");
  process.once("exit", killAtExit);
  void ended.then(() => process.off("exit", killAtExit));
  let isKilled = false;

  function fault(what: string): OperatorError {
    return new OperatorError([`The server of the test ${what}. Its log ends with:`, ...log.last()].join("\n  "), 1);
  }

  return {
    ready() {
      const early = ended.then((how) => Promise.reject(fault(`did not start (${how})`)));
      const late = () => fault(`did not start within ${START_TIMEOUT_MS / 1000} s`);
      return timeout(START_TIMEOUT_MS, Promise.race([log.url, early]), late);
    },
    isRunning: () => child.exitCode === null && child.signalCode === null,
    isKilled: () => isKilled,
    async kill() {
      isKilled = true;
      child.kill("SIGKILL");
      await ended;
    },
    async stop() {
      child.kill("SIGTERM");
      const how = await timeout(STOP_TIMEOUT_MS, ended, () => fault("did not stop"));
      if (how !== "exit code 0") throw fault(`did not stop cleanly (${how})`);
    },
    fault,
  };
}

/** Reads the log of a process. `url` resolves when it serves. `last` has the end of the log. */
function readLog({ stdout, stderr }: ChildProcess): { url: Promise<string>; last(): readonly string[] } {
  const lines: string[] = [];
  const { promise: url, resolve: serves } = Promise.withResolvers<string>();
  for (const input of [stdout, stderr]) {
    if (input === null) continue;
    createInterface({ input }).on("line", (line) => {
      lines.push(line);
      if (lines.length > LOG_LINES_KEPT) lines.shift();
      const found = /"event":"server_started","url":("[^"]+")/.exec(line)?.[1];
      if (found !== undefined) serves(JSON.parse(found) as string);
    });
  }
  return { url, last: () => lines };
}
