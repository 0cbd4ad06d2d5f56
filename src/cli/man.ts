import type { Argument, Command, Option } from "commander";
import { SECRET_NAMES, SETTING_NAMES } from "../config/settings.ts";
import { allNodes, type CommandNode, commandTree } from "./command-tree.ts";
import { EXAMPLES } from "./examples.ts";
import { printData } from "./output.ts";

/** Prints the manual page, in the man macros. */
export function runMan(program: Command): void {
  printData(manPage(program));
}

/** The manual page, made from the same descriptions as `--help`. */
export function manPage(program: Command): string {
  const root = commandTree(program);
  const commands = allNodes(root).filter((node) => node.children.length === 0);
  return [
    `.TH AUTHSERVE 1 "" "authserve ${program.version()}"`,
    // No hyphenation: a search in the pager would not find the names of settings.
    ".nh",
    ".SH NAME",
    "authserve \\- single-session login and webhook receiver",
    ".SH SYNOPSIS",
    ".B authserve",
    ".I command",
    "[options]",
    ".SH DESCRIPTION",
    escaped(root.description),
    ".SH COMMANDS",
    ...commands.flatMap(describe),
    ".SH EXIT STATUS",
    "0: done. 1: failed. 2: wrong usage or settings.",
    ".SH ENVIRONMENT",
    "Settings come from the environment and from .env in the working directory:",
    escaped(`${SETTING_NAMES.join(", ")}.`),
    escaped(`${SECRET_NAMES.join(", ")} may be set as NAME_FILE, the path of a file that holds the value.`),
    ".SH FILES",
    ".TP",
    ".I .env",
    "settings",
    ".TP",
    ".I DATA_DIR/authserve.db",
    "events, sessions and failed logins",
  ].join("\n");
}

function describe({ path, description, args, options }: CommandNode): string[] {
  const usage = ["authserve", ...path, ...args.map(usageOf)].join(" ");
  return [
    `.SS ${escaped(usage)}`,
    `${escaped(description + valuesOf(args))}.`,
    ...options.flatMap((option) => [
      ".TP",
      `.B ${escaped(option.flags)}`,
      escaped(option.description + valuesOf([option]) + defaultOf(option)),
    ]),
    ...examplesOf(path.join(" ")),
  ];
}

function examplesOf(path: string): string[] {
  const examples = EXAMPLES[path] ?? [];
  if (examples.length === 0) return [];
  return [
    ".PP",
    "Examples:",
    ...examples.flatMap(([commandLine, what]) => [".TP", `.B ${escaped(commandLine)}`, `${escaped(what)}.`]),
  ];
}

function usageOf(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? "..." : "");
  return argument.required ? `<${name}>` : `[${name}]`;
}

function valuesOf(taken: readonly (Argument | Option)[]): string {
  const values = taken.flatMap(({ argChoices }) => argChoices ?? []);
  return values.length === 0 ? "" : ` (one of ${values.join(", ")})`;
}

function defaultOf({ defaultValue }: Option): string {
  return defaultValue === undefined ? "" : ` (default: ${String(defaultValue)})`;
}

/** Escapes text so that hyphens can be copied, and no line begins like a macro. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");
}
