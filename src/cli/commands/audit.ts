import type { Command } from "commander";
import { remoteOptions } from "./remote-options.ts";

/** Adds the commands of the audit. */
export function addAuditCommands(program: Command): void {
  const audit = program.command("audit").description("Show and check what people and programs have changed");
  remoteOptions(
    audit
      .command("list")
      .description("List changes, newest first")
      .option("--limit <count>", "Maximum number of changes", "50")
      .option("--all", "Also show the rows that say what begins, so that the chain of hashes is whole")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../audit.ts")).runAuditList(options));
  remoteOptions(
    audit
      .command("verify")
      .description("Check that no row was changed, removed, moved or inserted")
      .option("--known <number:hash[:time]>", "A row of an earlier check, or of the log, that must still be there")
      .option("--json", "Print a JSON object"),
  ).action(async (options) => (await import("../audit.ts")).runAuditVerify(options));
}
