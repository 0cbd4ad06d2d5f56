import { isAbsolute, relative, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isatty } from "node:tty";
import { misspeltNames, openEnvFile, readEnvironment, workingDirectory } from "../config/env-file.ts";
import { readServerSettings } from "../config/server-settings.ts";
import { type Environment, readSettings, type Settings } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { findPort, hostOf } from "../http/listen.ts";
import { createLog, type Log } from "../log.ts";
import { COMMAND } from "../platform/checkout.ts";
import { say } from "./output.ts";
import { quoted, shellWord } from "./shell-quote.ts";

// npm and timeout pass on a signal that a terminal, or they themselves, have sent to the whole group of processes.
const SAME_SIGNAL_MS = 300;

const LOOKUP_CHECK_MS = 50;

const ADDRESS_NAMES = ["PORT", "HOST", "TLS_CERT_FILE", "TLS_KEY_FILE"] as const;

const FIRST_EMAIL = "demo@example.com";

/** Serves until SIGTERM or SIGINT, or the end of its terminal; a second signal ends the process at once. With `init`, makes `.env` first when it is missing. */
export async function runServe(options: { init?: boolean }): Promise<void> {
  const password = options.init ? await writeFirstEnvFile() : "";
  const environment = readEnvironment();
  const settings = readServerSettings(environment);
  // Only now, as it loads the native add-ons: bad settings are told first, and together.
  const { serve } = await import("../serve.ts");
  const format = settings.LOG_FORMAT ?? (process.stdout.isTTY ? "text" : "json");
  const log = createLog(settings.LOG_LEVEL, { format });
  warnOfEnvFile(environment, log);
  const signals = takeSignals();
  const server = await serve(settings, log);
  if (options.init) say(firstSteps(server.url, settings, password));
  await signals.first;
  await Promise.race([server.stop().then(lookupsEnd), signals.second]);
}

function warnOfEnvFile(environment: Environment, log: Log): void {
  const open = openEnvFile(workingDirectory());
  for (const { found, remedy } of [...misspeltNames(environment), ...(open ? [open] : [])]) {
    log.warn({ event: "setting_warning" }, `${found}: ${remedy}`);
  }
}

/** Returns the user's password as a word of a shell's command. */
async function writeFirstEnvFile(): Promise<string> {
  const { isEnvFileThere, PASSWORD_FILE, sayStarted, writeEnvFile } = await import("./init.ts");
  // Before anything is written: a start that fails would have shown a password that the next one does not show again.
  if (!isEnvFileThere()) await assertPortFree();
  const written = await writeEnvFile(FIRST_EMAIL, process.env);
  if (written !== null) await sayStarted(process.env.DEMO_EMAIL || FIRST_EMAIL, written);
  const password = written?.password ?? null;
  if (password === null) return "YOUR-PASSWORD";
  return process.stderr.isTTY ? shellWord(password) : `"$(cat ${PASSWORD_FILE})"`;
}

async function assertPortFree(): Promise<void> {
  const address = readSettings(readEnvironment(), ADDRESS_NAMES);
  if (address.PORT !== 0) await findPort({ port: address.PORT, host: hostOf(address) });
}

/**
 * Takes SIGTERM and SIGINT, and SIGHUP of a terminal, from now on: one that comes while the server starts stops it once it has.
 * The second one rejects, which leaves at once. That is safe: what was acknowledged is on disk, and the next start takes
 * the leases over.
 */
function takeSignals(): { first: Promise<void>; second: Promise<never> } {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<never>();
  // Nobody listens to it before the first has come.
  second.promise.catch(() => {});
  let cameAt = Number.POSITIVE_INFINITY;
  const onSignal = () => {
    const now = performance.now();
    if (now > cameAt + SAME_SIGNAL_MS) {
      process.once("exit", killDuringLookup);
      second.reject(new OperatorError("Stopped at once by a second signal", 1));
    }
    cameAt = Math.min(cameAt, now);
    first.resolve();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  // A terminal that is gone says so by SIGHUP. To a daemon it is a word to read its files again, or meant to be ignored, as
  // by nohup: Node forgets that.
  process.on("SIGHUP", hasTerminal() ? onSignal : () => {});
  return { first: first.promise, second: second.promise };
}

// Node's end waits for the DNS queries that are under way, and hears no signal meanwhile.
const looksUp = () => process.getActiveResourcesInfo().includes("GetAddrInfoReqWrap");

async function lookupsEnd(): Promise<void> {
  while (looksUp()) await delay(LOOKUP_CHECK_MS);
}

/** To be called at the exit, when all is written. */
function killDuringLookup(): void {
  if (looksUp()) process.kill(process.pid, "SIGKILL");
}

const hasTerminal = () => [0, 1, 2].some((fd) => isatty(fd));

/** Commands to paste into another terminal. A password is no argument of a program: `printf` is the shell's. */
function firstSteps(url: string, settings: Settings, password: string): string {
  const email = quoted(JSON.stringify(settings.DEMO_EMAIL));
  const command = shellWord(commandFrom(workingDirectory()));
  const testEvent = `
  # send a signed test event, then see what became of it
  ${command} events send-test
  ${command} events list
`;
  return `
authserve is ready at ${url}. In another terminal, in this folder:

  # log in
  TOKEN=$(printf '{"email":%s,"password":"%s"}' ${email} ${password} |
    curl -s ${url}/auth/login -H 'Content-Type: application/json' -d @- | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')

  # who am I
  curl -s ${url}/auth/me -H "Authorization: Bearer $TOKEN"
${settings.WEBHOOK_SECRET === undefined ? "" : testEvent}
Stop with Ctrl+C.`;
}

/** The program's path as it is called from a folder: the shorter of two. */
function commandFrom(folder: string): string {
  const path = relative(folder, COMMAND);
  const here = path.startsWith("..") || isAbsolute(path) ? path : `.${sep}${path}`;
  return here.length < COMMAND.length ? here : COMMAND;
}
