import type { Command } from "commander";
import { remoteOptions } from "./remote-options.ts";

/** Adds the commands of the configuration file, its sources and its routes. */
export function addWebhookCommands(program: Command): void {
  const config = program.command("config").description("Check the configuration file");
  config
    .command("check [file]")
    .description("Check a file, else the one that CONFIG_FILE names or authserve.yaml, and exit 2 if it is wrong")
    .option("--json", "Print a JSON object")
    .action(async (file, options) => (await import("../config.ts")).runConfigCheck(file, options));
  config
    .command("schema")
    .description("Print the JSON Schema of the configuration file, for editors")
    .action(async () => (await import("../config.ts")).runConfigSchema());
  program
    .command("import <product> <file>")
    .description(
      "Make authserve.yaml and .env from the files of tinyauth, traefik-forward-auth, oauth2-proxy or adnanh-webhook",
    )
    .option("--out <folder>", "Write the two files into this folder instead of standard output")
    .action(async (product, file, options) => (await import("../import.ts")).runImport(product, file, options));

  const sources = program.command("sources").description("Show the senders of webhooks, and check their deliveries");
  remoteOptions(
    sources
      .command("list")
      .description("List the sources with what they received, and once the secrets that handshakes brought")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../sources-list.ts")).runSourcesList(options));
  sources
    .command("presets [text]")
    .description("List the known providers, or those whose name has a text, or show all that is known of one")
    .option("--json", "Print a JSON array, or an object")
    .action(async (name, options) => (await import("../sources-presets.ts")).runSourcesPresets(name, options));
  remoteOptions(
    sources
      .command("explain [name]")
      .description(
        "Show which checks of the server a captured HTTP request passes, from standard input or a held delivery",
      )
      .option("--at <time>", "Check it at this time, ISO 8601 (default: now, or when it was held)")
      .option("--url <url>", "URL that the sender used (default: from Host)")
      .option("--address <address>", "Address of the sender (default: from X-Forwarded-For)")
      .option("--held <id>", "Explain this delivery of events held instead")
      .option("--json", "Print a JSON object"),
  ).action(async (name, options) => (await import("../sources-explain.ts")).runSourcesExplain(name, options));
  sources
    .command("capture <name>")
    .description(
      "Keep the next requests to a source of the running server as files for explain, with their credentials",
    )
    .option("--for <duration>", "How long to wait for them, at most 24h", "10m")
    .option("--count <number>", "Number of requests, at most 100", "1")
    .option("--out <folder>", "Folder to write the files to (default: the current one)")
    .option("--json", "Print a JSON array")
    .action(async (name, options) => (await import("../sources-capture.ts")).runSourcesCapture(name, options));
  remoteOptions(
    sources
      .command("catch-up <name>")
      .description("Get from the provider's API what a source has missed, with the catchUp of the configuration file")
      .option("--since <time>", "Look back to this time: 1h, 7d, or ISO 8601 (default: since the last run)")
      .option("--all", "Also what the provider has delivered and is not stored, e.g. after a restore from a backup")
      .option("--dry-run", "Only count it")
      .option("--json", "Print a JSON object"),
  ).action(async (name, options) => (await import("../sources-catch-up.ts")).runSourcesCatchUp(name, options));
  const routes = program.command("routes").description("Show the routes that process events, and pause them");
  remoteOptions(
    routes
      .command("list")
      .description("List the routes with the numbers of their jobs")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../routes.ts")).runRoutesList(options));
  remoteOptions(
    routes
      .command("pause <name>")
      .description("Let the events of a route wait")
      .option("--for <duration>", "End the pause after this time, e.g. 2h (default: at routes resume)"),
  ).action(async (name, options) => (await import("../routes.ts")).runRoutesPause(name, options));
  remoteOptions(routes.command("resume <name>").description("Process the events of a paused route")).action(
    async (name, options) => (await import("../routes.ts")).runRoutesResume(name, options),
  );
  remoteOptions(
    routes.command("try <name>").description("Try the unavailable target of a route now instead of at the next probe"),
  ).action(async (name, options) => (await import("../routes.ts")).runRoutesTry(name, options));
  remoteOptions(
    routes
      .command("shadow [name]")
      .description("List the shadows of routes, or where the answers of one differ from those of its route")
      .option("--reset", "Forget the comparisons of the shadow, and count anew")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print JSON"),
  ).action(async (name, options) => (await import("../routes-shadow.ts")).runRoutesShadow(name, options));
  routes
    .command("test [name]")
    .description("Show what routes would do with stored events or a file, and how it differs from what was sent")
    .option("--event <id>", "Test this stored event")
    .option("--since <time>", "Test the events received since this time: 1h, 7d, or ISO 8601 (UTC by default)")
    .option("--file <file>", "Test an event with the payload in this file")
    .option("--source <name>", "With --file: its source. With --event: if several sources have this id")
    .option("--type <type>", "With --file: its type (default: the type in it)")
    .option("--config <file>", "Test the routes of this configuration file (default: the present one)")
    .option("--json", "Print a JSON object")
    .action(async (name, options) => (await import("../routes-test.ts")).runRoutesTest(name, options));
  sendOptions(program.command("send"))
    .description("Send signed deliveries as a provider does")
    .action(async (options) => (await import("../send.ts")).runSend(options));
}

/** Adds the options of `send`. */
export function sendOptions(command: Command): Command {
  return command
    .option("--source <name>", "Sign as the sender of this source (default: default, or the only one)")
    .option("--preset <slug>", "Sign as this provider, with --secret-file")
    .option("--secret-file <file>", "File with the secret, or with a private key in PEM")
    .option("--type <type>", "Type of the event (default: that of the sample)")
    .option("--id <id>", "Id of the event (default: a new one)")
    .option("--body <file>", "Send this file instead of a sample")
    .option("--to <url>", "URL to send to (default: the running server)")
    .option("--count <number>", "Number of deliveries", "1")
    .option("--rate <rate>", "Deliveries per second, e.g. 50/s (default: as fast as possible)")
    .option("--json", "Print a JSON object");
}
