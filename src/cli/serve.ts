import { isAbsolute, relative, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isatty } from "node:tty";
import { envFileModeFault, misspelledNames, readEnvironment, workingDirectory } from "../config/env-file.ts";
import { configFileName, readConfigFile } from "../config/file/config-file.ts";
import { readServerSettings } from "../config/server-settings.ts";
import { type Environment, readSettings, type Settings } from "../config/settings.ts";
import { faultText, OperatorError } from "../errors.ts";
import { findPort, hostOf, publicUrlOf } from "../http/listen.ts";
import { createLog, type Log } from "../log.ts";
import { COMMAND } from "../platform/checkout.ts";
import { say } from "./output.ts";
import { quoted, shellWord } from "./shell-quote.ts";

// npm and timeout forward a signal that the whole process group already got. Within this time it counts as one signal.
const SAME_SIGNAL_MS = 300;

const LOOKUP_CHECK_MS = 50;

const ADDRESS_NAMES = ["PORT", "HOST", "TLS_CERT_FILE", "TLS_KEY_FILE"] as const;

const FIRST_EMAIL = "demo@example.com";

/**
 * Serves until SIGTERM, SIGINT or the end of its terminal. A second signal ends the process at once. With `init`,
 * creates a missing `.env` first.
 */
export async function runServe(options: { init?: boolean }): Promise<void> {
  const password = options.init ? await writeFirstEnvFile() : "";
  const environment = readEnvironment();
  const settings = await readServerSettings(environment);
  // Loaded after the settings are read: it loads the native add-ons, and bad settings are reported first.
  const { serve } = await import("../serve.ts");
  const format = settings.LOG_FORMAT ?? (process.stdout.isTTY ? "text" : "json");
  const log = createLog(settings.LOG_LEVEL, { format });
  warnOfEnvFile(environment, log);
  const signals = handleSignals();
  const { refuseIfServed } = await import("./served-dir.ts");
  if (settings.DATABASE_URL === undefined) await refuseIfServed(settings.DATA_DIR);
  // Each reload also reads `.env`, which may have new secrets.
  const server = await serve(
    {
      settings,
      environment,
      file: configFileName(environment),
      readFile: () => readConfigFile(readEnvironment()),
      reloadsAtHangup: !hasTerminal(),
    },
    log,
  );
  signals.onReload(server.reload);
  if (options.init) say(firstSteps(server.url, settings, password));
  await signals.first;
  await Promise.race([server.stop().then(pendingLookups), signals.second]);
}

function warnOfEnvFile(environment: Environment, log: Log): void {
  const open = envFileModeFault(workingDirectory());
  for (const fault of [...misspelledNames(environment), ...(open ? [open] : [])]) {
    log.warn({ event: "setting_warning" }, faultText(fault));
  }
}

/** Creates a missing `.env`. Returns the user's password as a word for a shell command. */
async function writeFirstEnvFile(): Promise<string> {
  const { isEnvFileThere, PASSWORD_FILE, reportFirstStart, writeEnvFile } = await import("./init.ts");
  // Before `.env` is written: the password is printed only once, and a failed start should not use that up.
  const isFirst = !isEnvFileThere();
  if (isFirst) await assertPortFree();
  const written = isFirst ? await writeEnvFile(FIRST_EMAIL, readEnvironment()) : null;
  if (written !== null) await reportFirstStart(process.env.DEMO_EMAIL || FIRST_EMAIL, written);
  const password = written?.password ?? null;
  if (password === null) return "YOUR-PASSWORD";
  return process.stderr.isTTY ? shellWord(password) : `"$(cat ${PASSWORD_FILE})"`;
}

async function assertPortFree(): Promise<void> {
  const address = readSettings(readEnvironment(), ADDRESS_NAMES);
  if (address.PORT !== 0) await findPort({ port: address.PORT, host: hostOf(address) });
}

interface Signals {
  first: Promise<void>;
  second: Promise<never>;
  /** Calls a function at each SIGHUP, which does not come from a terminal. */
  onReload(reload: () => void): void;
}

/**
 * Handles SIGTERM, SIGINT, and SIGHUP of a terminal. A signal during the start stops the server once it has started. A
 * second signal ends the process at once. That is safe: all acknowledged deliveries are on disk, and the next start
 * takes over the leases.
 */
function handleSignals(): Signals {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<never>();
  // Avoids an unhandled rejection: nothing awaits this promise before the first signal.
  second.promise.catch(() => {});
  let firstAt = Number.POSITIVE_INFINITY;
  const onSignal = () => {
    const now = performance.now();
    if (now > firstAt + SAME_SIGNAL_MS) {
      process.once("exit", killIfLookupPending);
      second.reject(new OperatorError("Stopped at once by a second signal", 1));
    }
    firstAt = Math.min(firstAt, now);
    first.resolve();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  // A closed terminal sends SIGHUP. Without a terminal it means "reload".
  let reload = () => {};
  process.on("SIGHUP", hasTerminal() ? onSignal : () => reload());
  return {
    first: first.promise,
    second: second.promise,
    onReload(run) {
      reload = run;
    },
  };
}

// At exit, Node waits for pending DNS queries and handles no signals meanwhile.
const isLookupPending = () => process.getActiveResourcesInfo().includes("GetAddrInfoReqWrap");

/** Resolves when no DNS query is pending. */
async function pendingLookups(): Promise<void> {
  while (isLookupPending()) await delay(LOOKUP_CHECK_MS);
}

/** Called at exit, when all output is written. */
function killIfLookupPending(): void {
  if (isLookupPending()) process.kill(process.pid, "SIGKILL");
}

const hasTerminal = () => [0, 1, 2].some((fd) => isatty(fd));

/**
 * Commands to paste into another terminal. `printf` is a shell builtin, so the password is in no process's arguments.
 */
function firstSteps(url: string, settings: Settings, password: string): string {
  const email = quoted(JSON.stringify(settings.DEMO_EMAIL));
  const command = shellWord(commandFrom(workingDirectory()));
  const origin = publicUrlOf(settings, url);
  const testEvent = `
  # Send a signed test event, then list events
  ${command} events send-test
  ${command} events list
`;
  return `
authserve is ready at ${url}. ${loginText(origin, settings)}Commands to try in another terminal, in this folder:

  # Log in
  TOKEN=$(printf '{"email":%s,"password":"%s"}' ${email} ${password} |
    curl -s ${url}/auth/login -H 'Content-Type: application/json' -d @- | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')

  # Show the user of the token
  curl -s ${url}/auth/me -H "Authorization: Bearer $TOKEN"
${settings.WEBHOOK_SECRET === undefined ? "" : testEvent}
Stop with Ctrl+C.`;
}

/** Where a browser goes: to the admin page, which leads to the login page, or to that. */
function loginText(origin: string | null, { ADMIN }: Settings): string {
  if (origin === null) return "";
  return ADMIN === "on" ? `Open ${origin}/admin/ in a browser, and log in. ` : `Log in at ${origin}/login. `;
}

/** The path of the program from a folder: relative or absolute, whichever is shorter. */
function commandFrom(folder: string): string {
  const path = relative(folder, COMMAND);
  const here = path.startsWith("..") || isAbsolute(path) ? path : `.${sep}${path}`;
  return here.length < COMMAND.length ? here : COMMAND;
}
