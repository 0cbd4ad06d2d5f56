import type { Argument, Command, Option } from "commander";

/** A command or group of commands as completion and the man page need it. */
export interface CommandNode {
  /** Words after the program's name. */
  path: string[];
  description: string;
  args: readonly Argument[];
  options: Option[];
  children: CommandNode[];
}

/** Reads the commands from the description that `--help` is made of; `help` itself is left out. */
export function commandTree(command: Command, path: string[] = []): CommandNode {
  return {
    path,
    description: command.description(),
    args: command.registeredArguments,
    options: [...command.options],
    children: withoutHelp(command.commands).map((child) => commandTree(child, [...path, child.name()])),
  };
}

/** The hidden command that completion asks for event ids. */
export const EVENT_IDS = "event-ids";

/** The commands that people call by name: without `help`, which is like `--help`, and what only completion calls. */
export function withoutHelp(commands: readonly Command[]): Command[] {
  return commands.filter((command) => !["help", EVENT_IDS].includes(command.name()));
}

/** The node and all below it, in the order of `--help`. */
export function allNodes(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(allNodes)];
}
