import type { Command } from "commander";
import { remoteOptions } from "./remote-options.ts";

/** Adds the commands of the apps that log in through this service, and of the keys that sign tokens for them. */
export function addClientCommands(program: Command): void {
  const clients = program.command("clients").description("Show the apps that log in here, and check their requests");
  remoteOptions(
    clients
      .command("list")
      .description("List the apps with when their sessions end, and how many ends they were not told")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../clients-list.ts")).runClientsList(options));
  remoteOptions(
    clients
      .command("retry [name]")
      .description("Tell an app, or every app, again of ended sessions that it could not be told of")
      .option("--json", "Print a JSON object"),
  ).action(async (name, options) => (await import("../clients-list.ts")).runClientsRetry(name, options));
  clients
    .command("presets [text]")
    .description("List the known apps, or those whose name has a text, or show all that is known of one")
    .option("--json", "Print a JSON array, or an object")
    .action(async (name, options) => (await import("../clients-presets.ts")).runClientsPresets(name, options));
  clients
    .command("explain <name> <url>")
    .description("Show which checks an authorization request of an app passes, and exit 1 unless it passes all")
    .option("--json", "Print a JSON object")
    .action(async (name, url, options) =>
      (await import("../clients-explain.ts")).runClientsExplain(name, url, options),
    );

  const keys = program.command("keys").description("List and change the keys that sign tokens for apps");
  remoteOptions(
    keys
      .command("list")
      .description("List the keys, without their private part")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../keys.ts")).runKeysList(options));
  remoteOptions(
    keys
      .command("rotate")
      .description("Make the next key of each algorithm, which signs after two hours, once all apps have it")
      .option("--at-once", "Sign with it from now on, also if the present key cannot be decrypted")
      .option("--json", "Print a JSON object"),
  ).action(async (options) => (await import("../keys.ts")).runKeysRotate(options));
}
