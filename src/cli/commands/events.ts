import { type Command, Option } from "commander";
import { STEPS } from "../../events/chart.ts";
import { STATUSES } from "../../events/event.ts";
import { remoteOptions } from "./remote-options.ts";
import { sendOptions } from "./webhooks.ts";

/** Adds the commands of stored events. */
export function addEventCommands(program: Command): void {
  remoteOptions(
    program
      .command("listen")
      .description(
        "Send stored events to a program on this machine as they arrive, and go on where the last run stopped",
      )
      .option("--forward <url>", "Where to send them, e.g. http://localhost:3000/hook, or a port")
      .option("--allow-remote", "Allow --forward to name another machine")
      .option("--name <name>", "Name of the listener: each has a place of its own among the events", "default")
      .option("--source <name>", "Only events of this source")
      .option("--type <type>", "Only events of these types, e.g. invoice.*,!invoice.draft")
      .option("--route <name>", "Only events that this route takes")
      .option("--since <time>", "Begin with the events received since this time: 1h, 7d, or ISO 8601 (UTC by default)")
      .option("--from-start", "Begin with the oldest event")
      .option("--max-backlog <count>", "Refuse to start if more events wait", "1000")
      .option("--sign-with <preset>", "Sign as this provider, with --secret-file")
      .option("--secret-file <file>", "File with the secret; without --sign-with for the signature that an app gets")
      .option("--print", "Print the payloads, too")
      .option("--json", "Print a JSON object per line"),
  ).action(async (options) => (await import("../listen/listen.ts")).runListen(options));
  const events = program.command("events").description("Show and replay stored events");
  remoteOptions(
    events
      .command("list")
      .description("List events, newest first")
      .addOption(new Option("--status <status>", "Only events of this status").choices(STATUSES))
      .option("--type <type>", "Only events of this type, or of these types, e.g. invoice.*,!invoice.draft")
      .option("--source <name>", "Only events of this source")
      .option("--route <name>", "Only events with a job of this route; status, attempts and error are then of that job")
      .option("--since <time>", "Only events received since this time: 1h, 7d, or ISO 8601 (UTC by default)")
      .option("--until <time>", "Only events received before this time, like --since")
      .option("--error <text>", "Only events whose last error contains this text")
      .option("--search <text>", "Only events with this text in the id, type, payload, headers or an answer")
      .option("--cursor <cursor>", "Continue a list at the cursor that it printed")
      .option("--limit <count>", "Maximum number of events", "50")
      .option("--follow", "Keep printing new events as they arrive")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array, or with --follow one JSON object per line"),
  ).action(async (options) => (await import("../events-list.ts")).runEventsList(options));
  remoteOptions(
    events
      .command("show <id>")
      .description("Show an event with its attempts, origin and payload")
      .option("--source <name>", "Source of the event, if several sources have this id")
      .option(
        "--config <file>",
        "Say why the routes of this configuration file do not take it (default: the present one)",
      )
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON object"),
  ).action(async (id, options) => (await import("../events-show.ts")).runEventsShow(id, options));
  bulkOptions(
    events
      .command("replay [ids...]")
      .description("Queue failed events again, with all their attempts")
      .option("--force", "Give events to the routes that match them now, also processed ones")
      .option("--transform", "Make anew what the transformation of a route sends (default: send the same bytes again)")
      .option("--conflict <number>", "Replay this conflict or repeat of the event (see events show) as a new event"),
  ).action(async (ids, options) => (await import("../events-replay.ts")).runEventsReplay(ids, options));
  bulkOptions(
    events
      .command("discard [ids...]")
      .description("Give up events that failed or wait, and keep the reason")
      .requiredOption("--reason <text>", "Why they are given up")
      .addOption(
        new Option("--status <status>", "With a filter: take jobs that failed, or that wait (default: failed)").choices(
          ["failed", "queued"],
        ),
      ),
  ).action(async (ids, options) => (await import("../events-discard.ts")).runEventsDiscard(ids, options));
  remoteOptions(
    events
      .command("erase [ids...]")
      .description("Erase the contents of events for good, keep their ids, and print a receipt")
      .requiredOption("--reason <text>", "Why they are erased")
      .option("--search <text>", "Erase those that events list --search finds, and held deliveries with this text")
      .addOption(new Option("--status <status>", "Erase those of this status").choices(STATUSES))
      .option("--type <type>", "Erase those of this type")
      .option("--source <name>", "Erase those of this source; with an id, its source")
      .option("--since <time>", "Erase those received since this time: 1h, 7d, or ISO 8601 (UTC by default)")
      .option("--until <time>", "Erase those received before this time, like --since")
      .option("--error <text>", "Erase those whose last error contains this text")
      .option("--dry-run", "Only show what would be erased")
      .option("--json", "Print a JSON object"),
  ).action(async (ids, options) => (await import("../events-erase.ts")).runEventsErase(ids, options));
  remoteOptions(
    events
      .command("prune")
      .description("Remove what retention does not keep, now")
      .option("--dry-run", "Only count it")
      .option("--json", "Print a JSON object"),
  ).action(async (options) => (await import("../events-prune.ts")).runEventsPrune(options));
  remoteOptions(
    events
      .command("stats")
      .description("Count events by status, and deliveries and attempts over time")
      .option("--since <time>", "Count from this time on: 1h, 7d, or ISO 8601 (UTC by default; default: a day)")
      .option("--until <time>", "Count until this time, like --since")
      .addOption(new Option("--step <step>", "Length of the parts of the time in the JSON output").choices(STEPS))
      .option("--source <name>", "Count only this source")
      .option("--route <name>", "Count only attempts of this route")
      .option("--json", "Print a JSON object"),
  ).action(async (options) => (await import("../events-stats.ts")).runEventsStats(options));
  const held = remoteOptions(
    events
      .command("held")
      .description("List deliveries that were refused for their signature, of sources with keepRejected")
      .option("--source <name>", "Only deliveries of this source")
      .option("--since <time>", "Only deliveries received since this time: 1h, 7d, or ISO 8601 (UTC by default)")
      .option("--limit <count>", "Maximum number of deliveries", "50")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../events-held.ts")).runEventsHeld(options));
  remoteOptions(
    held
      .command("show <id>")
      .description("Show a held delivery, without the values of headers that may be secrets")
      .option("--raw", "Print the request as it came, also its credentials, for sources explain")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON object"),
  )
    // The command above it has some of these options, too, and takes them.
    .action(async (id, _options, command: Command) =>
      (await import("../events-held-show.ts")).runEventsHeldShow(id, command.optsWithGlobals()),
    );
  remoteOptions(
    events
      .command("reverify")
      .description("Admit held deliveries that the present secrets of their source verify, in order of arrival")
      .requiredOption("--source <name>", "Source of the deliveries")
      .option("--since <time>", "Only deliveries received since this time: 1h, 7d, or ISO 8601 (UTC by default)")
      .option("--dry-run", "Only count them")
      .option("--json", "Print a JSON object"),
  ).action(async (options) => (await import("../events-held.ts")).runEventsReverify(options));
  sendOptions(events.command("send-test"))
    .description("The same as send: send a signed test event")
    .addOption(new Option("--url <url>", "The same as --to").hideHelp())
    .action(async ({ url, ...options }) => (await import("../send.ts")).runSend({ to: url, ...options }));
}

/** Adds the options of a command that takes event ids or a filter. */
function bulkOptions(command: Command): Command {
  return remoteOptions(command)
    .option("--dead-letter", "Take all failed events")
    .option("--source <name>", "Take those of this source; with an id, its source")
    .option("--type <type>", "Take those of this type")
    .option("--route <name>", "Take those that failed in this route")
    .option("--since <time>", "Take those received since this time: 1h, 7d, or ISO 8601 (UTC by default)")
    .option("--until <time>", "Take those received before this time, like --since")
    .option("--error <text>", "Take those whose last error contains this text")
    .option("--dry-run", "Only count them")
    .option("--rate <rate>", "Events per second, e.g. 50/s (default: as fast as deliveries allow)")
    .option("--cursor <cursor>", "Continue where an ended command stopped")
    .option("--json", "Print a JSON object");
}
