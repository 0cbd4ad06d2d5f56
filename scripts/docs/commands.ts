import type { Command } from "commander";
import { withoutHelp } from "../../src/cli/command-tree.ts";
import { EXAMPLES } from "../../src/cli/examples.ts";
import { createProgram } from "../../src/cli/program.ts";
import { code, codeBlock, list, page, table } from "./markdown.ts";

/** The page of commands, with the content of `--help`. */
export function commandsPage(): string {
  return page(
    "Commands",
    "Commands read `.env` in the working directory. They work with or without a running server unless they say otherwise.",
    list([
      "Data goes to standard output, messages to standard error.",
      "The output of `--json` is for programs and stays stable.",
      "Exit codes: 0 done, 1 failed, 2 wrong usage or settings.",
    ]),
    ...leavesOf(createProgram(), []).flatMap(describe),
  );
}

interface Leaf {
  command: Command;
  path: string;
}

/** The commands without subcommands. Groups do nothing themselves. */
function leavesOf(command: Command, path: readonly string[]): Leaf[] {
  const children = withoutHelp(command.commands);
  if (children.length === 0) return [{ command, path: path.join(" ") }];
  return children.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

function describe({ command, path }: Leaf): string[] {
  const help = command.createHelp();
  const rows = [
    ...help
      .visibleArguments(command)
      .map((argument) => [code(help.argumentTerm(argument)), help.argumentDescription(argument)]),
    ...command.options.map((option) => [code(help.optionTerm(option)), help.optionDescription(option)]),
  ];
  const examples = (EXAMPLES[path] ?? []).map(([commandLine, what]) => `# ${what}\n${commandLine}`);
  const blocks = [`## ${path}`, `${command.description()}.`, codeBlock(help.commandUsage(command))];
  if (rows.length > 0) blocks.push(table(["argument or option", "meaning"], rows));
  if (examples.length > 0) blocks.push("Examples:", codeBlock(examples.join("\n"), "sh"));
  return blocks;
}
