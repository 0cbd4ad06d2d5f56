import type { Command } from "commander";
import { remoteOptions } from "./remote-options.ts";

/** Adds the commands of alerts. */
export function addAlertCommands(program: Command): void {
  const alerts = program.command("alerts").description("Show, silence and test alerts");
  remoteOptions(
    alerts
      .command("list")
      .description("List the alerts that fire")
      .option("--all", "Also those that were resolved in the last week")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../alerts.ts")).runAlertsList(options));
  remoteOptions(
    alerts
      .command("silence [name]")
      .description("Keep an alert, or every alert, from being sent for a while")
      .option("--for <duration>", "For how long", "1h")
      .option("--label <name=value...>", "Only alerts with this label, e.g. source=stripe")
      .option("--reason <text>", "Why, for the list")
      .option("--off", "End silences of this name, or all of them")
      .option("--json", "Print a JSON object"),
  ).action(async (name, options) => (await import("../alerts.ts")).runAlertsSilence(name, options));
  remoteOptions(
    alerts
      .command("test")
      .description("Send a test message to each notifier of the configuration file")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../alerts.ts")).runAlertsTest(options));
}
