import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { alertNameOf, SEVERITIES, TELLING_STATES } from "../alerts/alert.ts";
import { listAlerts, listSilences } from "../alerts/list.ts";
import { fieldError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { count, cursor, forMs, text, timestamp } from "./fields.ts";
import { type ContextWith, change, reading } from "./operation.ts";

const TellingItem = v.object({
  notifier: v.string(),
  of: v.pipe(v.picklist(["firing", "resolved"]), v.description("What the alert did.")),
  state: v.pipe(
    v.picklist(TELLING_STATES),
    v.description("`retried`: the last try failed, and another one follows. `failed`: none does."),
  ),
  at: v.pipe(timestamp, v.description("Since when it has this state.")),
  error: v.pipe(v.nullable(v.string()), v.description("Why the last try failed.")),
});

const AlertItem = v.object({
  id: v.string(),
  name: v.string(),
  title: v.string(),
  state: v.picklist(["pending", "firing", "resolved"]),
  severity: v.picklist(SEVERITIES),
  labels: v.record(v.string(), v.string()),
  summary: v.string(),
  remedy: v.string(),
  view: v.pipe(v.string(), v.description("The place on the admin page that shows more.")),
  since: timestamp,
  startsAt: v.nullable(timestamp),
  endsAt: v.nullable(timestamp),
  silencedUntil: v.nullable(timestamp),
  told: v.pipe(
    v.nullable(v.array(TellingItem)),
    v.description("Which notifiers got a message about it. Null if a version announced it that did not keep it."),
  ),
});

const SilenceItem = v.object({
  name: v.pipe(v.nullable(v.string()), v.description("Null: every alert.")),
  labels: v.record(v.string(), v.string()),
  reason: v.nullable(v.string()),
  until: timestamp,
});

const AlertsAnswer = v.object({
  items: v.array(AlertItem),
  silences: v.array(SilenceItem),
  notifiers: v.pipe(
    v.array(v.object({ name: v.string(), kind: v.string() })),
    v.description("Where this server sends alerts."),
  ),
  cursor,
});

const SilenceBody = v.object({
  name: v.optional(v.pipe(text, v.description("Default: every alert."))),
  labels: v.optional(v.record(v.string(), text)),
  reason: v.optional(text),
  forMs,
});

const TestedAnswer = v.object({
  items: v.array(v.object({ name: v.string(), kind: v.string(), sent: v.boolean(), error: v.nullable(v.string()) })),
});

export const listed = reading({
  path: "alerts",
  scope: "events:read",
  summary: "Lists the alerts that fire or wait to fire, those that were resolved in the last week, and the silences.",
  input: v.object({}),
  output: AlertsAnswer,
  async run({ stores: { alerts, now }, notifiers }: ContextWith<"notifiers">) {
    const stored = await alerts.read();
    return {
      items: listAlerts(stored, now()),
      silences: listSilences(stored.silences, now()),
      // A command has no need to read the configuration.
      notifiers: notifiers?.() ?? [],
      cursor: null,
    };
  },
});

export const silence = change({
  path: "alerts/silence",
  scope: "manage",
  summary: "Keeps an alert, or every alert, from being sent for a while.",
  input: SilenceBody,
  output: v.object({ until: timestamp }),
  audited: {
    action: "alerts.silence",
    asked: ({ name = null, labels = {}, reason = null }) => ({ name, labels, reason }),
    outcome: ({ until }) => ({ until }),
  },
  async run({ stores: { alerts, now } }, { name: given, labels = {}, reason = null, forMs }) {
    const name = given === undefined ? null : alertNameOf(given);
    if (given !== undefined && name === null) throw fieldError("name", "must be the name of an alert");
    const until = now() + forMs;
    await alerts.addSilence({ id: randomUUID(), name, labels, reason, until }, now());
    return { until: isoTime(until) };
  },
});

export const unsilence = change({
  path: "alerts/unsilence",
  scope: "manage",
  summary: "Ends the silences of an alert, or all silences.",
  input: v.object({ name: v.optional(v.pipe(text, v.description("Default: all."))) }),
  output: v.object({ removed: count }),
  audited: {
    action: "alerts.unsilence",
    asked: ({ name = null }) => ({ name }),
    outcome: ({ removed }) => (removed === 0 ? null : { removed }),
  },
  run: async ({ stores: { alerts } }, { name }) => ({
    removed: await alerts.removeSilences(name === undefined ? null : (alertNameOf(name) ?? name)),
  }),
});

export const test = change({
  path: "alerts/test",
  scope: "manage",
  summary: "Sends a test message to each notifier of the configuration file, and tells which of them took it.",
  input: v.object({}),
  output: TestedAnswer,
  audited: null,
  run: async ({ testNotifiers }) => ({ items: await testNotifiers() }),
});
