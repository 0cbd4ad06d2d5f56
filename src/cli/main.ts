import { Argument, Command, CommanderError, Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { AppError, describeError, type Fault, OperatorError, PROBLEMS, SettingsError } from "../errors.ts";
import { STATUSES } from "../events/event.ts";
import { EVENT_IDS } from "./command-tree.ts";
import { exampleText } from "./examples.ts";

/** The command line. Each command's code is loaded when it runs, so that `--help` and `--version` start fast. */
export function createProgram(): Command {
  const program = new Command("authserve")
    .description(
      "Log one user in with at most one live session, and receive webhooks: verified, durable, processed once.",
    )
    .version(packageJson.version, "-v, --version", "print the version")
    .showHelpAfterError("(see --help)")
    .configureOutput({ outputError: (text, write) => write(withoutExcess(text)) })
    .exitOverride();

  program
    .command("serve")
    .description("serve until SIGTERM or SIGINT")
    .option("--init", "make .env first when it is missing, and print commands to try")
    .action(async (options) => (await import("./serve.ts")).runServe(options));
  program
    .command("init")
    .description("write .env with fresh secrets and a user, whose password is printed once")
    .option("--email <address>", "the user's e-mail", "demo@example.com")
    .option("--json", "print an object")
    .action(async (options) => (await import("./init.ts")).runInit(options));
  program
    .command("hash-password")
    .description("print the hash of a password that is asked for, or read from standard input")
    .option("--allow-weak", "hash a short or very common password all the same")
    .option("--calibrate <duration>", "make one hash take about this long on this machine, e.g. 250ms")
    .option("--json", "print an object")
    .action(async (options) => (await import("./hash-password.ts")).runHashPassword(options));
  program
    .command("passwd")
    .description("set a new password of the user in .env, or print what to set")
    .option("--allow-weak", "take a short or very common password all the same")
    .action(async (options) => (await import("./passwd.ts")).runPasswd(options));

  const events = program.command("events").description("look at stored events and run them again");
  events
    .command("list")
    .description("events, newest first")
    .addOption(new Option("--status <status>", "only of this status").choices(STATUSES))
    .option("--type <type>", "only this type")
    .option("--source <name>", "only this source")
    .option("--since <time>", "received since then: 1h, 7d, or an ISO 8601 time, UTC unless it says otherwise")
    .option("--until <time>", "received before then, like --since")
    .option("--error <text>", "whose last error holds this text")
    .option("--cursor <cursor>", "go on where an earlier list has ended")
    .option("--limit <count>", "how many", "50")
    .option("--follow", "go on with events as they come")
    .option("--utc", "exact times instead of relative ones")
    .option("--json", "print an array of objects, with --follow an object a line")
    .action(async (options) => (await import("./events-list.ts")).runEventsList(options));
  events
    .command("show <id>")
    .description("one event with its attempts, origin and payload")
    .option("--source <name>", "where two sources share the id")
    .option("--utc", "exact times instead of relative ones")
    .option("--json", "print an object")
    .action(async (id, options) => (await import("./events-show.ts")).runEventsShow(id, options));
  events
    .command("replay [ids...]")
    .description("queue failed events again, with a fresh budget of attempts")
    .option("--dead-letter", "all failed events")
    .option("--source <name>", "where two sources share the id")
    .option("--force", "also events that are processed already")
    .option("--conflict <number>", "the other bytes that came under the event's id, as an event of their own")
    .option("--json", "print an object")
    .action(async (ids, options) => (await import("./events-replay.ts")).runEventsReplay(ids, options));
  events
    .command("stats")
    .description("how many events are queued, processed and failed")
    .option("--json", "print an object")
    .action(async (options) => (await import("./events-stats.ts")).runEventsStats(options));
  events
    .command("send-test")
    .description("send a signed test event to the running server")
    .option("--type <type>", "its type", "payment_intent.succeeded")
    .option("--id <id>", "its id, instead of a new one")
    .option("--url <url>", "where to, instead of the configured address")
    .option("--json", "print an object")
    .action(async (options) => (await import("./send-test.ts")).runSendTest(options));

  const session = program.command("session").description("look at the active session and end it");
  session
    .command("show [user-id]")
    .description("the active session of a user")
    .option("--json", "print an object")
    .action(async (userId, options) => (await import("./session.ts")).runSessionShow(userId, options));
  session
    .command("revoke [user-id]")
    .description("end the active session of a user")
    .option("--json", "print an object")
    .action(async (userId, options) => (await import("./session.ts")).runSessionRevoke(userId, options));

  const throttle = program.command("throttle").description("look at failed logins and forget them");
  throttle
    .command("show")
    .description("the failed logins that count now")
    .option("--address <ip>", "those of one address at the user's e-mail too")
    .option("--json", "print an object")
    .action(async (options) => (await import("./throttle.ts")).runThrottleShow(options));
  throttle
    .command("clear")
    .description("forget all failed logins")
    .option("--address <ip>", "only those of one address at the user's e-mail")
    .option("--json", "print an object")
    .action(async (options) => (await import("./throttle.ts")).runThrottleClear(options));

  program
    .command("token")
    .description("look into an access token")
    .command("explain")
    .description("which checks a token passes that is asked for, or read from standard input")
    .option("--json", "print an object")
    .action(async (options) => (await import("./token.ts")).runTokenExplain(options));
  program
    .command("selftest")
    .description("try the configured stores")
    .command("sessions")
    .description("race logins, logouts and reads on the session store, under a key of its own")
    .option("--rounds <count>", "how many races of a logout against a login", "200")
    .option("--json", "print an object")
    .action(async (options) => (await import("./selftest.ts")).runSelftestSessions(options));
  program
    .command("ready")
    .description("wait until the running server is ready; exit 1 when it is not in time")
    .option("--timeout <duration>", "how long to wait", "10s")
    .action(async (options) => (await import("./ready.ts")).runReady(options));
  program
    .command("backup <file>")
    .description("write a checked copy of the database, while the server runs or not")
    .option("--force", "replace an older backup of this name")
    .option("--json", "print an object")
    .action(async (file, options) => (await import("./backup.ts")).runBackup(file, options));
  program
    .command("restore <file>")
    .description("put a backup in the database's place, while no server runs; the old database is kept beside it")
    .option("--json", "print an object")
    .action(async (file, options) => (await import("./backup.ts")).runRestore(file, options));
  program
    .command("doctor")
    .description(
      "check settings, files, database, disk, clock, Redis, port and add-ons; exit 1 when something is wrong",
    )
    .option("--json", "print an array of objects")
    .action(async (options) => (await import("./doctor.ts")).runDoctor(options));
  program
    .command("licenses")
    .description("list the packages that the program is made of")
    .option("--full", "print their licences word for word")
    .option("--json", "print an array of objects")
    .action(async (options) => (await import("./licenses.ts")).runLicenses(options));
  program
    .command("completion")
    .description("print the completion script of a shell")
    .addArgument(new Argument("<shell>", "which one").choices(["bash", "zsh", "fish"]))
    .action(async (shell) => (await import("./completion.ts")).runCompletion(shell, program));
  program
    .command("man")
    .description("print the manual page; read it with: authserve man | man -l -")
    .action(async () => (await import("./man.ts")).runMan(program));
  program
    .command(EVENT_IDS, { hidden: true })
    .description("print the ids of the newest events, for completion")
    .action(async () => (await import("./event-ids.ts")).runEventIds());
  addHelp(program);
  addExamples(program, []);
  return program;
}

/** Leaves out the arguments that there are too many of: one may be a password or a token. */
function withoutExcess(text: string): string {
  return text.replace(/^(error: too many arguments .* but got \d+): .*$/s, "$1.\n");
}

/** Gives a group and those below it a `help` that takes several words; commander's takes one, and passes over unknown ones. */
function addHelp(group: Command): void {
  for (const child of group.commands) if (child.commands.length > 0) addHelp(child);
  group
    .command("help [command...]", { hidden: true })
    .description("display help for a command")
    .action((words: string[]) => helpFor(group, words));
}

/** Shows examples behind the help of each command. */
function addExamples(command: Command, path: readonly string[]): void {
  const text = exampleText(path.join(" "));
  if (text !== "") command.addHelpText("after", text);
  for (const child of command.commands) addExamples(child, [...path, child.name()]);
}

/** Prints the help of the command that the words lead to. */
function helpFor(group: Command, words: readonly string[]): void {
  let command = group;
  for (const word of words) {
    const next = command.commands.find((child) => child.name() === word);
    if (!next) command.error(`error: unknown command '${word}'`);
    else command = next;
  }
  command.outputHelp();
}

/** Runs a command line and returns the exit code: 0 done, 1 failed, 2 wrong usage or settings. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync([...argv], { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(inWords(error));
    return error instanceof OperatorError ? error.exitCode : 1;
  }
}

/** What a command failed of, with a hint where there is one; a defect with its stack. */
function inWords(error: unknown): string {
  if (error instanceof SettingsError) return error.faults.map(faultInWords).join("");
  if (error instanceof OperatorError) return `error: ${error.message}\n`;
  if (error instanceof AppError) {
    const found = `${PROBLEMS[error.code].detail} (${describeError(error.cause)})`;
    return faultInWords({ found, remedy: "authserve doctor looks for the reason" });
  }
  return `error: ${error instanceof Error ? error.stack : error}\n`;
}

const faultInWords = ({ found, remedy }: Fault) => `error: ${found}\n  hint: ${remedy}\n`;

/** Runs the process's command line and sets its exit code. */
export async function run(): Promise<void> {
  const argv = process.argv.slice(2);
  const isServing = argv[0] === "serve";
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader of a pipe may leave early, as `head` does; what the command finds is still its exit code. A server goes on
    // without its log.
    if (error.code === "EPIPE" || isServing) return;
    process.stderr.write(`error: standard output cannot be written (${error.code})\n`);
    process.exit(1);
  });
  // Words that nobody can be told are no reason to stop.
  process.stderr.on("error", () => {});
  // Node would open its debugger, to every user of this machine: it reads the secrets and runs what it is told.
  process.on("SIGUSR1", () => {});
  process.on("uncaughtException", (error) => {
    process.stderr.write(`error: ${error.stack}\n`);
    process.exit(1);
  });
  process.exitCode = await main(argv);
  // What failed, or served, may have left a handle open that would keep the process. A server's end waits for no reader.
  if (isServing) process.exit();
  if (process.exitCode === 0) return;
  await Promise.all([process.stdout, process.stderr].map(isWritten));
  process.exit();
}

/** Resolves when everything before is written: a pipe takes no more than its reader makes room for. */
function isWritten(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

if (import.meta.main) void run();
