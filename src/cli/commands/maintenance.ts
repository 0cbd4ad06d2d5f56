import type { Command } from "commander";
import { remoteOptions } from "./remote-options.ts";

/** Adds the commands that test, wait for, copy and check a store or a server. */
export function addMaintenanceCommands(program: Command): void {
  const selftest = program.command("selftest").description("Test the configured stores, and this machine");
  selftest
    .command("sessions")
    .description("Race logins, logouts and reads on the session store, with a test user")
    .option("--rounds <count>", "Number of races between a logout and a login", "200")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../selftest.ts")).runSelftestSessions(options));
  selftest
    .command("crash")
    .description(
      "Kill a server of its own under load, restart it, and check that it loses no acknowledged event, and no end of a session",
    )
    .option("--rounds <count>", "Number of kills", "20")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../selftest-crash.ts")).runSelftestCrash(options));
  remoteOptions(
    program
      .command("outages")
      .description("Show when deliveries could not be taken, whether each sender repeats them, and what to do")
      .option("--since <time>", "Only outages since this time: 1h, 7d, or ISO 8601 (UTC by default)", "90d")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../outages.ts")).runOutages(options));
  program
    .command("ready")
    .description("Wait until the server is ready, else exit 1")
    .option("--timeout <duration>", "Maximum time to wait", "10s")
    .action(async (options) => (await import("../ready.ts")).runReady(options));
  program
    .command("reload")
    .description("Let the running server read its configuration file again, and exit 1 if it does not use it")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../reload.ts")).runReload(options));
  program
    .command("backup <file>")
    .description("Write a verified copy of the database, also while the server runs")
    .option("--force", "Replace an existing backup")
    .option("--keep <count>", "<file> is a folder: name the backup by its time, and keep only the newest so many there")
    .option("--json", "Print a JSON object")
    .action(async (file, options) => (await import("../backup.ts")).runBackup(file, options));
  program
    .command("restore <file>")
    .description("Replace the database with a backup while no server runs, and keep the old one")
    .option("--json", "Print a JSON object")
    .action(async (file, options) => (await import("../backup.ts")).runRestore(file, options));
  program
    .command("encrypt")
    .description("Encrypt what is stored with the first key of ENCRYPTION_KEYS, also while the server runs")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../encrypt.ts")).runEncrypt(options));
  program
    .command("migrate")
    .description("Copy the store of a DATA_DIR, whose server has stopped, into the database of DATABASE_URL")
    .requiredOption("--from <directory>", "DATA_DIR to copy")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../migrate.ts")).runMigrate(options));
  program
    .command("upgrade")
    .description("See what an upgrade to this version does")
    .command("check")
    .description("Show what the next start would change in the database, and exit 1 if it would fail")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../upgrade.ts")).runUpgradeCheck(options));
  program
    .command("nodes")
    .description("List the servers that share the database of DATABASE_URL")
    .option("--utc", "Show times in UTC")
    .option("--json", "Print a JSON array")
    .action(async (options) => (await import("../nodes.ts")).runNodes(options));
  program
    .command("doctor")
    .description(
      "Check settings, files, database, disk, clock, Redis, port and add-ons, and exit 1 if something is wrong",
    )
    .option("--json", "Print a JSON array")
    .action(async (options) => (await import("../doctor.ts")).runDoctor(options));
}
