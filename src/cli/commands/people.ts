import type { Command } from "commander";

/** Adds the commands of the people of the configuration file. */
export function addPeopleCommands(program: Command): void {
  const people = program.command("people").description("Invite the people of the configuration file");
  people
    .command("invite <name>")
    .description("Make a link with which a person adds a passkey or sets a password, and print it this once")
    .option("--json", "Print a JSON object")
    .action(async (name, options) => (await import("../people-invite.ts")).runPeopleInvite(name, options));
}
