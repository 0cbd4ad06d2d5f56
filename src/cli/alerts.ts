import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { ALERTS, type AlertName, alertNameOf } from "../alerts/alert.ts";
import { listAlerts, listSilences } from "../alerts/list.ts";
import { createNotify } from "../alerts/notifiers.ts";
import { testNotifiers } from "../alerts/test-notifiers.ts";
import { readEnvironment } from "../config/env-file.ts";
import { handlerEnvironment, readConfigFile } from "../config/file/config-file.ts";
import { readSettings } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { pageUrlOf } from "../http/listen.ts";
import { isoTime } from "../lib/iso-time.ts";
import { nearest } from "../lib/nearest.ts";
import { printable } from "../lib/printable.ts";
import { makeChange } from "./make-change.ts";
import { durationOption, FOR_BOUNDS } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

/** Prints the alerts that fire or wait to fire; with `all` also those that were resolved in the last week. */
export function runAlertsList({ all, utc, json, ...remote }: AlertsListOptions): Promise<void> {
  const server = remoteServer(remote);
  const isShown = ({ state }: ListedAlert) => all || state !== "resolved";
  if (server !== null) return printRemoteAlerts(server, isShown, { utc, json });
  return withStores(async ({ alerts, now: clock }) => {
    const now = clock();
    const stored = await alerts.read();
    const items = listAlerts(stored, now).filter(isShown);
    if (json) return printJson(items);
    const time = timeFormat(utc, now);
    printAlerts(items, time);
    saySilences(listSilences(stored.silences, now), time);
  });
}

type ListedAlert = ReturnType<typeof listAlerts>[number];
type ListedSilence = ReturnType<typeof listSilences>[number];

interface AlertsListOptions extends RemoteOptions {
  all?: boolean;
  utc?: boolean;
  json?: boolean;
}

async function printRemoteAlerts(
  server: RemoteServer,
  isShown: (alert: ListedAlert) => boolean,
  { utc, json }: { utc: boolean | undefined; json: boolean | undefined },
): Promise<void> {
  const { items, silences } = await server.raw<{ items: ListedAlert[]; silences: ListedSilence[] }>("alerts");
  const shown = items.filter(isShown);
  if (json) return printJson(shown);
  const time = timeFormat(utc, Date.now());
  printAlerts(shown, time);
  saySilences(silences, time);
}

function saySilences(silences: readonly ListedSilence[], time: (at: number) => string): void {
  for (const { name, labels, reason, until } of silences) {
    const only = Object.entries(labels).map(([label, value]) => ` ${label}=${printable(value)}`);
    const why = reason === null ? "" : `: ${printable(reason)}`;
    say(`${name ?? "Every alert"}${only.join("")} is silenced. The silence ends ${time(Date.parse(until))}${why}.`);
  }
}

function printAlerts(items: readonly ListedAlert[], time: (at: number) => string): void {
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

interface SilenceOptions {
  for?: string;
  label?: string[];
  reason?: string;
  off?: boolean;
  json?: boolean;
}

/** Keeps an alert, or every alert, from being sent for a while. */
export function runAlertsSilence(name: string | undefined, options: SilenceOptions): Promise<void> {
  const chosen = name === undefined ? null : requireName(name);
  const labels = Object.fromEntries((options.label ?? []).map(parseLabel));
  return withStores(async (stores) => {
    const { alerts, now: clock } = stores;
    const now = clock();
    if (options.off) {
      const removed = await makeChange(stores, {
        action: "alerts.unsilence",
        asked: { name: chosen },
        make: () => alerts.removeSilences(chosen),
        outcome: (count) => (count === 0 ? null : { removed: count }),
      });
      if (options.json) return printJson({ removed });
      return say(removed === 0 ? "There is no such silence." : `Ended ${counted(removed, "silence")}.`);
    }
    const until = now + durationOption("--for", options.for ?? "1h", FOR_BOUNDS);
    const reason = options.reason ?? null;
    await makeChange(stores, {
      action: "alerts.silence",
      asked: { name: chosen, labels, reason, until: isoTime(until) },
      make: () => alerts.addSilence({ id: randomUUID(), name: chosen, labels, reason, until }, now),
      outcome: () => ({}),
    });
    if (options.json) return printJson({ name: chosen, labels, until: isoTime(until) });
    say(`${chosen ?? "Every alert"} is silenced until ${isoTime(until)}.`);
  });
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
export async function runAlertsTest({ json }: { json?: boolean }): Promise<void> {
  const environment = readEnvironment();
  const file = readConfigFile(environment);
  const { PUBLIC_URL: url = "", ADMIN } = readSettings(environment, ["PUBLIC_URL", "ADMIN"]);
  const notifiers = file?.alerts.notifiers ?? [];
  if (file === null || notifiers.length === 0) {
    throw new OperatorError({
      found: "No notifier is configured",
      remedy: "add alerts.notify to the configuration file",
    });
  }
  const notify = createNotify({ instance: hostname(), url, page: pageUrlOf({ ADMIN }, url) }, () =>
    handlerEnvironment(environment, file),
  );
  const results = await testNotifiers(notify, notifiers, Date.now());
  if (json) printJson(results);
  else {
    printTable(
      ["NOTIFIER", "RESULT"],
      results.map(({ name, error }) => [name, error === null ? "sent" : `failed: ${error}`]),
    );
  }
  const failed = results.filter(({ error }) => error !== null).length;
  if (failed > 0) {
    const found = `${counted(failed, "notifier")} did not take the message`;
    throw new OperatorError({ found, remedy: "correct alerts.notify in the configuration file, or see the target" }, 1);
  }
}
