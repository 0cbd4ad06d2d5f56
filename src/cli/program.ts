import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { addAlertCommands } from "./commands/alerts.ts";
import { addAuditCommands } from "./commands/audit.ts";
import { addEventCommands } from "./commands/events.ts";
import { addLoginCommands } from "./commands/login.ts";
import { addMaintenanceCommands } from "./commands/maintenance.ts";
import { addServerCommands } from "./commands/server.ts";
import { addShellCommands } from "./commands/shell.ts";
import { addWebhookCommands } from "./commands/webhooks.ts";
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
  for (const [heading, add] of GROUPS) {
    program.commandsGroup(heading);
    add(program);
  }
  addHelp(program);
  addExamples(program, []);
  return program;
}

/** The groups of the help, in order. */
const GROUPS: readonly [heading: string, add: (program: Command) => void][] = [
  ["Server:", addServerCommands],
  ["Events:", addEventCommands],
  ["Webhooks:", addWebhookCommands],
  ["Alerts:", addAlertCommands],
  ["Login:", addLoginCommands],
  ["Audit:", addAuditCommands],
  ["Operation:", addMaintenanceCommands],
  ["Shell:", addShellCommands],
];

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
