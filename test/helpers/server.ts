import { join } from "node:path";
import { readDescription } from "./check-answer.ts";
import { authserve, type Command, EXECUTABLE, type Exit, type Finished, startProgram } from "./command.ts";
import { EMAIL, JWT_SECRET, PASSWORD_HASH, WEBHOOK_SECRET } from "./credentials.ts";
import { until } from "./until.ts";
import { workingDir } from "./working-dir.ts";

export interface LogLine {
  level: string;
  event: string;
  message: string;
  [field: string]: unknown;
}

export interface ServerOptions {
  /** Added to {@link settings}; undefined removes a setting. */
  env?: Record<string, string | undefined>;
  /** The directory of an earlier server, to start with its data. */
  dir?: string;
  /** Arguments after `serve`. */
  args?: readonly string[];
  uid?: number;
  /** The program of another version. */
  program?: string;
}

export interface Server {
  url: string;
  port: number;
  dir: string;
  env: Record<string, string | undefined>;
  pid: number;
  exited: Promise<Exit>;
  stdout(): string;
  stderr(): string;
  /** The log lines so far, optionally of one log event only. */
  log(event?: string): LogLine[];
  /** Waits for a log line of this event. */
  logged(event: string): Promise<LogLine>;
  signal(name: NodeJS.Signals): void;
  /** Stops the process and waits until it has ended. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
  /** kill -9. */
  kill(): Promise<Exit>;
  /** Runs a command in the server's directory with its settings. */
  run(args: readonly string[], env?: Record<string, string | undefined>): Promise<Finished>;
  /** Kills the process. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A complete, valid environment whose data lives in a directory. */
export function settings(dir: string, env: ServerOptions["env"] = {}): Record<string, string | undefined> {
  return {
    PORT: "0",
    DATA_DIR: join(dir, "data"),
    JWT_SECRET,
    DEMO_EMAIL: EMAIL,
    DEMO_PASSWORD: PASSWORD_HASH,
    WEBHOOK_SECRET,
    // A test of a start without its database need not wait for it.
    ...(env.DATABASE_URL !== undefined && { DATABASE_WAIT: "0s" }),
    ...env,
  };
}

/** Starts the real process on a free port and waits until it serves. Throws with its output if it does not. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const dir = options.dir ?? workingDir(options.uid === undefined ? 0o700 : 0o777);
  const env = settings(dir, options.env);
  const { uid } = options;
  const command = startProgram(options.program ?? EXECUTABLE, ["serve", ...(options.args ?? [])], {
    dir,
    env,
    ...(uid === undefined ? {} : { uid }),
  });
  const { url, pid } = await started(command);
  await readDescription(url);
  const { child, exited } = command;

  async function end(signal: NodeJS.Signals): Promise<Exit> {
    child.kill(signal);
    return exited;
  }
  const log = (event?: string) => linesOf(command).filter((line) => event === undefined || line.event === event);

  return {
    url,
    port: Number(new URL(url).port),
    dir,
    env,
    pid,
    exited,
    stdout: command.stdout,
    stderr: command.stderr,
    log,
    async logged(event) {
      await until(() => log(event).length > 0);
      return log(event)[0] as LogLine;
    },
    signal: (name) => void child.kill(name),
    stop: (signal = "SIGTERM") => end(signal),
    kill: () => end("SIGKILL"),
    run: (args, more = {}) => authserve(args, { dir, env: { ...env, ...more } }),
    async [Symbol.asyncDispose]() {
      await end("SIGKILL");
    },
  };
}

async function started(command: Command): Promise<{ url: string; pid: number }> {
  const find = () => linesOf(command).find((line) => line.event === "server_started");
  let ended = false;
  void command.exited.then(() => {
    ended = true;
  });
  await until(() => ended || find() !== undefined);
  const line = find();
  if (line === undefined) throw new Error(`the server did not start: ${command.stderr()}`);
  return { url: String(line.url), pid: Number(line.pid) };
}

/** Complete lines of standard output. */
function linesOf(command: Command): LogLine[] {
  const text = command.stdout();
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  return whole
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LogLine);
}

/** Runs `serve` with settings that should be refused, until it ends. */
export function serveRefused(env: ServerOptions["env"], dir = workingDir(), uid?: number): Promise<Finished> {
  return authserve(["serve"], { dir, env: settings(dir, env), ...(uid === undefined ? {} : { uid }) });
}
