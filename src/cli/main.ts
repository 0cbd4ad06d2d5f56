import { Argument, Command, CommanderError, Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { ConfigFileError } from "../config/file/errors.ts";
import { AppError, describeError, type Fault, OperatorError, PROBLEMS, SettingsError } from "../errors.ts";
import { STATUSES } from "../events/event.ts";
import { DEFAULT_SOURCE_NAME } from "../webhook/default-source.ts";
import { EVENT_IDS } from "./command-tree.ts";
import { exampleText } from "./examples.ts";

/** Builds the command line. The code of a command is loaded when it runs, so that `--help` and `--version` are fast. */
export function createProgram(): Command {
  const program = new Command("authserve")
    .description(
      "Log one user in with at most one session. Receive webhooks: verify them, store them on disk, process each once.",
    )
    .version(packageJson.version, "-v, --version", "Print the version")
    .helpOption("-h, --help", "Show help")
    .showHelpAfterError("(see --help)")
    .configureOutput({ outputError: (text, write) => write(withoutArguments(text)) })
    .exitOverride();

  program
    .command("serve")
    .description("Start the server and run until SIGTERM or SIGINT")
    .option("--init", "Create .env if it is missing, and print commands to try")
    .action(async (options) => (await import("./serve.ts")).runServe(options));
  program
    .command("init")
    .description("Create .env with new secrets and a user, and print the password once")
    .option("--email <address>", "E-mail of the user", "demo@example.com")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./init.ts")).runInit(options));
  program
    .command("hash-password")
    .description("Hash a password, from a prompt or standard input")
    .option("--allow-weak", "Accept a short or common password")
    .option("--calibrate <duration>", "Choose the cost so that one hash takes about this long here, e.g. 250ms")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./hash-password.ts")).runHashPassword(options));
  program
    .command("passwd")
    .description("Change the password in .env, or print the line to set")
    .option("--allow-weak", "Accept a short or common password")
    .action(async (options) => (await import("./passwd.ts")).runPasswd(options));

  const events = program.command("events").description("Show and replay stored events");
  events
    .command("list")
    .description("List events, newest first")
    .addOption(new Option("--status <status>", "Only events of this status").choices(STATUSES))
    .option("--type <type>", "Only events of this type")
    .option("--source <name>", "Only events of this source")
    .option("--since <time>", "Only events received since this time: 1h, 7d, or ISO 8601 (UTC by default)")
    .option("--until <time>", "Only events received before this time, like --since")
    .option("--error <text>", "Only events whose last error contains this text")
    .option("--search <text>", "Only events whose payload contains this text")
    .option("--cursor <cursor>", "Continue a list at the cursor that it printed")
    .option("--limit <count>", "Maximum number of events", "50")
    .option("--follow", "Keep printing new events as they arrive")
    .option("--utc", "Show exact times instead of relative ones")
    .option("--json", "Print a JSON array, or with --follow one JSON object per line")
    .action(async (options) => (await import("./events-list.ts")).runEventsList(options));
  events
    .command("show <id>")
    .description("Show an event with its attempts, origin and payload")
    .option("--source <name>", "Source of the event, if several sources have this id")
    .option("--utc", "Show exact times instead of relative ones")
    .option("--json", "Print a JSON object")
    .action(async (id, options) => (await import("./events-show.ts")).runEventsShow(id, options));
  bulkOptions(
    events
      .command("replay [ids...]")
      .description("Queue failed events again, with all their attempts")
      .option("--force", "Give events to the routes that match them now, also processed ones")
      .option("--conflict <number>", "Replay this conflict of the event (see events show) as a new event"),
  ).action(async (ids, options) => (await import("./events-replay.ts")).runEventsReplay(ids, options));
  bulkOptions(
    events
      .command("discard [ids...]")
      .description("Give up events that failed or wait, and keep the reason")
      .requiredOption("--reason <text>", "Why they are given up")
      .addOption(
        new Option("--status <status>", "With a filter: take jobs that failed, or that wait (default: failed)").choices(
          ["failed", "queued"],
        ),
      ),
  ).action(async (ids, options) => (await import("./events-discard.ts")).runEventsDiscard(ids, options));
  events
    .command("prune")
    .description("Remove what retention does not keep, now")
    .option("--dry-run", "Only count it")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./events-prune.ts")).runEventsPrune(options));
  events
    .command("stats")
    .description("Count events by status")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./events-stats.ts")).runEventsStats(options));
  events
    .command("send-test")
    .description("Send a signed test event to the running server")
    .option("--type <type>", "Type of the event", "payment_intent.succeeded")
    .option("--id <id>", "Id of the event (default: a new one)")
    .option("--url <url>", "URL to send it to (default: the running server)")
    .option("--json", "Print a JSON object")
    .action(async ({ url, ...options }) =>
      (await import("./send.ts")).runSend({ ...options, source: DEFAULT_SOURCE_NAME, to: url }),
    );

  const config = program.command("config").description("Check the configuration file");
  config
    .command("check")
    .description("Check authserve.yaml, or the file that CONFIG_FILE names, and exit 2 if it is wrong")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./config.ts")).runConfigCheck(options));
  config
    .command("schema")
    .description("Print the JSON Schema of the configuration file, for editors")
    .action(async () => (await import("./config.ts")).runConfigSchema());

  const sources = program.command("sources").description("Show the senders of webhooks, and check their deliveries");
  sources
    .command("list")
    .description("List the sources with what they received")
    .option("--utc", "Show exact times instead of relative ones")
    .option("--json", "Print a JSON array")
    .action(async (options) => (await import("./sources-list.ts")).runSourcesList(options));
  sources
    .command("presets")
    .description("List the known providers, and what proves that their signatures verify")
    .option("--json", "Print a JSON array")
    .action(async (options) => (await import("./sources-presets.ts")).runSourcesPresets(options));
  sources
    .command("explain <name>")
    .description("Show which checks a captured HTTP request passes, from standard input")
    .option("--at <time>", "Check it at this time, ISO 8601 (default: now)")
    .option("--url <url>", "URL that the sender used (default: from Host)")
    .option("--json", "Print a JSON object")
    .action(async (name, options) => (await import("./sources-explain.ts")).runSourcesExplain(name, options));
  const routes = program.command("routes").description("Show the routes that process events, and pause them");
  routes
    .command("list")
    .description("List the routes with the numbers of their jobs")
    .option("--utc", "Show exact times instead of relative ones")
    .option("--json", "Print a JSON array")
    .action(async (options) => (await import("./routes.ts")).runRoutesList(options));
  routes
    .command("pause <name>")
    .description("Let the events of a route wait")
    .action(async (name) => (await import("./routes.ts")).runRoutesPause(name));
  routes
    .command("resume <name>")
    .description("Process the events of a paused route")
    .action(async (name) => (await import("./routes.ts")).runRoutesResume(name));
  program
    .command("send")
    .description("Send signed deliveries as a provider does")
    .option("--source <name>", "Sign as the sender of this source (default: default, or the only one)")
    .option("--preset <slug>", "Sign as this provider, with --secret-file")
    .option("--secret-file <file>", "File with the secret")
    .option("--type <type>", "Type of the event (default: that of the sample)")
    .option("--id <id>", "Id of the event (default: a new one)")
    .option("--body <file>", "Send this file instead of a sample")
    .option("--to <url>", "URL to send to (default: the running server)")
    .option("--count <number>", "Number of deliveries", "1")
    .option("--rate <rate>", "Deliveries per second, e.g. 50/s (default: as fast as possible)")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./send.ts")).runSend(options));

  const session = program.command("session").description("Show or end the active session");
  session
    .command("show [user-id]")
    .description("Show the active session of a user")
    .option("--json", "Print a JSON object")
    .action(async (userId, options) => (await import("./session.ts")).runSessionShow(userId, options));
  session
    .command("revoke [user-id]")
    .description("End the active session of a user")
    .option("--json", "Print a JSON object")
    .action(async (userId, options) => (await import("./session.ts")).runSessionRevoke(userId, options));

  const throttle = program.command("throttle").description("Show or forget failed logins");
  throttle
    .command("show")
    .description("Show the failed logins that count now")
    .option("--address <ip>", "Show those of this address too")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./throttle.ts")).runThrottleShow(options));
  throttle
    .command("clear")
    .description("Forget failed logins")
    .option("--address <ip>", "Only those of this address")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./throttle.ts")).runThrottleClear(options));

  program
    .command("token")
    .description("Explain an access token")
    .command("explain")
    .description("Show which checks a token passes, from a prompt or standard input")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./token.ts")).runTokenExplain(options));
  const selftest = program.command("selftest").description("Test the configured stores, and this machine");
  selftest
    .command("sessions")
    .description("Race logins, logouts and reads on the session store, with a test user")
    .option("--rounds <count>", "Number of races between a logout and a login", "200")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./selftest.ts")).runSelftestSessions(options));
  selftest
    .command("crash")
    .description("Kill a server of its own under load, restart it, and check that it loses no acknowledged event")
    .option("--rounds <count>", "Number of kills", "20")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./selftest-crash.ts")).runSelftestCrash(options));
  program
    .command("ready")
    .description("Wait until the server is ready, else exit 1")
    .option("--timeout <duration>", "Maximum time to wait", "10s")
    .action(async (options) => (await import("./ready.ts")).runReady(options));
  program
    .command("backup <file>")
    .description("Write a verified copy of the database, also while the server runs")
    .option("--force", "Replace an existing backup")
    .option("--json", "Print a JSON object")
    .action(async (file, options) => (await import("./backup.ts")).runBackup(file, options));
  program
    .command("restore <file>")
    .description("Replace the database with a backup while no server runs, and keep the old one")
    .option("--json", "Print a JSON object")
    .action(async (file, options) => (await import("./backup.ts")).runRestore(file, options));
  program
    .command("migrate")
    .description("Copy the store of a DATA_DIR, whose server has stopped, into the database of DATABASE_URL")
    .requiredOption("--from <directory>", "DATA_DIR to copy")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("./migrate.ts")).runMigrate(options));
  program
    .command("doctor")
    .description(
      "Check settings, files, database, disk, clock, Redis, port and add-ons, and exit 1 if something is wrong",
    )
    .option("--json", "Print a JSON array")
    .action(async (options) => (await import("./doctor.ts")).runDoctor(options));
  program
    .command("licenses")
    .description("List the packages in this program and their licences")
    .option("--full", "Print the full licence texts")
    .option("--json", "Print a JSON array")
    .action(async (options) => (await import("./licenses.ts")).runLicenses(options));
  program
    .command("completion")
    .description("Print the completion script of a shell")
    .addArgument(new Argument("<shell>", "Shell").choices(["bash", "zsh", "fish"]))
    .action(async (shell) => (await import("./completion.ts")).runCompletion(shell, program));
  program
    .command("man")
    .description("Print the manual page, for man -l -")
    .action(async () => (await import("./man.ts")).runMan(program));
  program
    .command(EVENT_IDS, { hidden: true })
    .description("Print the ids of the newest events, for completion")
    .action(async () => (await import("./event-ids.ts")).runEventIds());
  addHelp(program);
  addExamples(program, []);
  return program;
}

/** Adds the options of a command that takes event ids or a filter. */
function bulkOptions(command: Command): Command {
  return command
    .option("--dead-letter", "Take all failed events")
    .option("--source <name>", "Take those of this source; with an id, its source")
    .option("--type <type>", "Take those of this type")
    .option("--route <name>", "Take those that failed in this route")
    .option("--since <time>", "Take those received since this time: 1h, 7d, or ISO 8601 (UTC by default)")
    .option("--until <time>", "Take those received before this time, like --since")
    .option("--error <text>", "Take those whose last error contains this text")
    .option("--dry-run", "Only count them")
    .option("--rate <rate>", "Events per second, e.g. 50/s (default: as fast as deliveries allow)")
    .option("--cursor <cursor>", "Continue where an ended command stopped")
    .option("--json", "Print a JSON object");
}

/** Removes excess arguments from commander's error: one may be a password or a token. */
function withoutArguments(text: string): string {
  return text.replace(/^(error: too many arguments .* but got \d+): .*$/s, "$1.\n");
}

/** Adds a `help` that takes several words to each group. Commander's own takes one word, and ignores unknown ones. */
function addHelp(group: Command): void {
  for (const child of group.commands) if (child.commands.length > 0) addHelp(child);
  group
    .command("help [command...]", { hidden: true })
    .description("Show help for a command")
    .action((words: string[]) => helpFor(group, words));
}

/** Adds examples to the help of each command. */
function addExamples(command: Command, path: readonly string[]): void {
  const text = exampleText(path.join(" "));
  if (text !== "") command.addHelpText("after", text);
  for (const child of command.commands) addExamples(child, [...path, child.name()]);
}

/** Prints the help of the command that the words name. */
function helpFor(group: Command, words: readonly string[]): void {
  let command = group;
  for (const word of words) {
    const next = command.commands.find((child) => child.name() === word);
    if (!next) command.error(`error: unknown command '${word}'`);
    else command = next;
  }
  command.outputHelp();
}

/** Runs a command line. Returns the exit code: 0 done, 1 failed, 2 wrong usage or settings. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync([...argv], { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(errorText(error));
    return error instanceof OperatorError ? error.exitCode : 1;
  }
}

/** The lines for a failed command: the error, with a hint if it has one. A defect is shown with its stack. */
function errorText(error: unknown): string {
  if (error instanceof ConfigFileError) return error.lines.map((line) => `${line}\n`).join("");
  if (error instanceof SettingsError) return error.faults.map(faultLines).join("");
  if (error instanceof OperatorError) return error.fault ? faultLines(error.fault) : `error: ${error.message}\n`;
  if (error instanceof AppError) {
    const found = `${PROBLEMS[error.code].detail} (${describeError(error.cause)})`;
    return faultLines({ found, remedy: "run authserve doctor to find the cause" });
  }
  return `error: ${error instanceof Error ? error.stack : error}\n`;
}

const faultLines = ({ found, remedy }: Fault) => `error: ${found}\n  hint: ${remedy}\n`;

/** Runs the process's command line and sets its exit code. */
export async function run(): Promise<void> {
  const argv = process.argv.slice(2);
  const isServing = argv[0] === "serve";
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // EPIPE: the reader of a pipe may leave early, as `head` does. The exit code still tells the result. A server goes on
    // without its log.
    if (error.code === "EPIPE" || isServing) return;
    process.stderr.write(`error: cannot write to standard output (${error.code})\n`);
    process.exit(1);
  });
  // A message that cannot be written must not stop the command.
  process.stderr.on("error", () => {});
  // By default Node opens its debugger to every user of this machine, who could read the secrets and run code.
  process.on("SIGUSR1", () => {});
  process.on("uncaughtException", (error) => {
    process.stderr.write(`error: ${error.stack}\n`);
    process.exit(1);
  });
  process.exitCode = await main(argv);
  // A failed command, or a server, may leave a handle open that keeps the process alive. A server does not wait for readers.
  if (isServing) process.exit();
  if (process.exitCode === 0) return;
  await Promise.all([process.stdout, process.stderr].map(isWritten));
  process.exit();
}

/** Resolves when all earlier output is written. A pipe accepts no more than its reader has room for. */
function isWritten(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

if (import.meta.main) void run();
