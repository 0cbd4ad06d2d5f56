import { ALERTS, type AlertName, alertNameOf } from "../alerts/alert.ts";
import { OperatorError } from "../errors.ts";
import { nearest } from "../lib/nearest.ts";
import { printable } from "../lib/printable.ts";
import { listed, silence, test, unsilence } from "../operations/alerts.ts";
import type { OutputOf } from "../operations/operation.ts";
import { commandConfiguration, operate } from "./operate.ts";
import { durationOption, FOR_BOUNDS } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

type Alerts = OutputOf<typeof listed>;

interface AlertsListOptions extends RemoteOptions {
  all?: boolean;
  utc?: boolean;
  json?: boolean;
}

/** Prints the alerts that fire or wait to fire; with `all` also those that were resolved in the last week. */
export async function runAlertsList({ all, utc, json, ...remote }: AlertsListOptions): Promise<void> {
  const { items, silences } = await operate(listed, {}, remote);
  const shown = items.filter(({ state }) => all || state !== "resolved");
  if (json) return printJson(shown);
  const time = timeFormat(utc, Date.now());
  printAlerts(shown, time);
  saySilences(silences, time);
}

function saySilences(silences: Alerts["silences"], time: (at: number) => string): void {
  for (const { name, labels, reason, until } of silences) {
    const only = Object.entries(labels).map(([label, value]) => ` ${label}=${printable(value)}`);
    const why = reason === null ? "" : `: ${printable(reason)}`;
    say(`${name ?? "Every alert"}${only.join("")} is silenced. The silence ends ${time(Date.parse(until))}${why}.`);
  }
}

function printAlerts(items: Alerts["items"], time: (at: number) => string): void {
  if (items.length === 0) {
    say("No alert fires.");
    return;
  }
  printTable(
    ["ALERT", "STATE", "SEVERITY", "SINCE"],
    items.map(({ name, state, severity, since, silencedUntil }) => [
      name,
      silencedUntil === null ? state : `${state}, silenced`,
      severity,
      time(Date.parse(since)),
    ]),
    items.map(({ summary }) => summary),
  );
}

interface SilenceOptions extends RemoteOptions {
  for?: string;
  label?: string[];
  reason?: string;
  off?: boolean;
  json?: boolean;
}

/** Keeps an alert, or every alert, from being sent for a while. */
export async function runAlertsSilence(given: string | undefined, options: SilenceOptions): Promise<void> {
  const name = given === undefined ? undefined : requireName(given);
  const labels = Object.fromEntries((options.label ?? []).map(parseLabel));
  if (options.off) {
    const { removed } = await operate(unsilence, { name }, options);
    if (options.json) return printJson({ removed });
    return say(removed === 0 ? "There is no such silence." : `Ended ${counted(removed, "silence")}.`);
  }
  const forMs = durationOption("--for", options.for ?? "1h", FOR_BOUNDS);
  const { until } = await operate(silence, { name, labels, reason: options.reason, forMs }, options);
  if (options.json) return printJson({ name: name ?? null, labels, until });
  say(`${name ?? "Every alert"} is silenced until ${until}.`);
}

function requireName(name: string): AlertName {
  const found = alertNameOf(name);
  if (found !== null) return found;
  const names = Object.keys(ALERTS);
  const meant = nearest(name, names) ?? nearest(`Authserve${name}`, names);
  const remedy = meant === undefined ? `name one of ${names.join(", ")}` : `did you mean ${meant}?`;
  throw new OperatorError({ found: "There is no such alert", remedy });
}

function parseLabel(text: string): [string, string] {
  const [, name, value] = /^([a-z]+)=(.+)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new OperatorError({ found: "--label is not usable", remedy: "give a label and its value, e.g. source=stripe" });
}

/** Sends a test message to each notifier of the configuration file. Throws if one of them did not take it. */
export async function runAlertsTest({ json, ...remote }: RemoteOptions & { json?: boolean }): Promise<void> {
  // It needs no store, and is of use before the first start.
  const isHere = remoteServer(remote) === null;
  const items = isHere ? await commandConfiguration.testNotifiers() : (await operate(test, {}, remote)).items;
  if (items.length === 0) {
    throw new OperatorError({
      found: "No notifier is configured",
      remedy: "add alerts.notify to the configuration file",
    });
  }
  if (json) printJson(items);
  else {
    printTable(
      ["NOTIFIER", "RESULT"],
      items.map(({ name, error }) => [name, error === null ? "sent" : `failed: ${error}`]),
    );
  }
  const failed = items.filter(({ error }) => error !== null).length;
  if (failed > 0) {
    const found = `${counted(failed, "notifier")} did not take the message`;
    throw new OperatorError({ found, remedy: "correct alerts.notify in the configuration file, or see the target" }, 1);
  }
}
