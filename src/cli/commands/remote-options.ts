import type { Command } from "commander";

/** Adds the options of a command that may ask another machine. */
export function remoteOptions(command: Command): Command {
  return command
    .option("--server <url>", "Ask this server over its API instead of the database, with --token-file")
    .option("--token-file <file>", "File with a token of tokens create");
}
