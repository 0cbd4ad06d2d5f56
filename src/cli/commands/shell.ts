import { Argument, type Command } from "commander";
import { EVENT_IDS } from "../command-tree.ts";

/** Adds the commands about this program, and what a shell needs of it. */
export function addShellCommands(program: Command): void {
  program
    .command("version")
    .description("Print the version, or compare this program with a release")
    .option("--check <file>", "The provenance file of a release. Exit 1 if this is not its program")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../version.ts")).runVersion(options));
  program
    .command("licenses")
    .description("List the packages in this program and their licences")
    .option("--full", "Print the full licence texts")
    .option("--json", "Print a JSON array")
    .action(async (options) => (await import("../version.ts")).runLicenses(options));
  program
    .command("completion")
    .description("Print the completion script of a shell")
    .addArgument(new Argument("<shell>", "Shell").choices(["bash", "zsh", "fish"]))
    .action(async (shell) => (await import("../completion.ts")).runCompletion(shell, program));
  program
    .command("docs [words...]")
    .description("Print a page of the documentation, or the sections that have all words")
    .option("--json", "Print JSON")
    .action(async (words, options) => (await import("../docs.ts")).runDocs(words, options));
  program
    .command("man")
    .description("Print the manual page, for man -l -")
    .action(async () => (await import("../man.ts")).runMan(program));
  program
    .command(EVENT_IDS, { hidden: true })
    .description("Print the ids of the newest events, for completion")
    .action(async () => (await import("../events-list.ts")).runEventIds());
}
