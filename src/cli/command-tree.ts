import type { Argument, Command, Option } from "commander";

/** A command or group of commands, for completion and the manual page. */
export interface CommandNode {
  /** The words after `authserve`. */
  path: string[];
  description: string;
  args: readonly Argument[];
  options: Option[];
  children: CommandNode[];
}

/** Reads the commands from the program of commander, without `help`. */
export function commandTree(command: Command, path: string[] = []): CommandNode {
  return {
    path,
    description: command.description(),
    args: command.registeredArguments,
    options: [...command.options],
    children: withoutHelp(command.commands).map((child) => commandTree(child, [...path, child.name()])),
  };
}

/** The hidden command that completion runs for event ids. */
export const EVENT_IDS = "event-ids";

/** Removes `help`, which is like `--help`, and the command that only completion runs. */
export function withoutHelp(commands: readonly Command[]): Command[] {
  return commands.filter((command) => !["help", EVENT_IDS].includes(command.name()));
}

/** The node and all its descendants, in the order of `--help`. */
export function allNodes(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(allNodes)];
}
