import type { Command } from "commander";
import { remoteOptions } from "./remote-options.ts";

/** Adds the commands of the people of the configuration file. */
export function addPeopleCommands(program: Command): void {
  const people = program.command("people").description("List and invite the people of the configuration file");
  remoteOptions(
    people
      .command("list")
      .description("List everybody who can log in, with the live session of each")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../people.ts")).runPeopleList(options));
  people
    .command("invite <name>")
    .description("Make a link with which a person adds a passkey or sets a password, and print it this once")
    .option("--json", "Print a JSON object")
    .action(async (name, options) => (await import("../people-invite.ts")).runPeopleInvite(name, options));
}
