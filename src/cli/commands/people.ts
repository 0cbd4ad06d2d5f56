import type { Command } from "commander";
import { remoteOptions } from "./remote-options.ts";

/** Adds the commands of the people of the configuration file. */
export function addPeopleCommands(program: Command): void {
  const people = program.command("people").description("Show who can log in");
  remoteOptions(
    people
      .command("list")
      .description("List everybody who can log in, with the live session of each")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../people.ts")).runPeopleList(options));
}
