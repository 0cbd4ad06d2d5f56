import * as v from "valibot";
import type { Endpoint } from "../http/endpoint.ts";
import { isoTime } from "../lib/iso-time.ts";
import {
  type AdminGuard,
  changeEndpoint,
  count,
  cursor,
  fieldError,
  forMs,
  readEndpoint,
  text,
  timestamp,
} from "./api.ts";

export interface AlertParts extends AdminGuard {
  readAlerts: () => Promise<Omit<v.InferOutput<typeof AlertsAnswer>, "cursor">>;
  alerts: {
    /** Returns false if there is no alert of this name. */
    silence(silence: NewSilence): Promise<boolean>;
    /** Returns the number of silences that have ended. Null: all. */
    unsilence(name: string | null): Promise<number>;
    /** Sends a test message to each notifier. */
    test(): Promise<v.InferOutput<typeof TestedAnswer>["items"]>;
  };
  now: () => number;
}

/** Keeps an alert, or with null every alert, from being sent. `until` is in Unix milliseconds. */
interface NewSilence {
  name: string | null;
  labels: Record<string, string>;
  reason: string | null;
  until: number;
}

export const AlertItem = v.object({
  id: v.string(),
  name: v.string(),
  title: v.string(),
  state: v.picklist(["pending", "firing", "resolved"]),
  severity: v.picklist(["info", "warning", "critical"]),
  labels: v.record(v.string(), v.string()),
  summary: v.string(),
  remedy: v.string(),
  since: timestamp,
  startsAt: v.nullable(timestamp),
  endsAt: v.nullable(timestamp),
  silencedUntil: v.nullable(timestamp),
});

const SilenceItem = v.object({
  name: v.pipe(v.nullable(v.string()), v.description("Null: every alert.")),
  labels: v.record(v.string(), v.string()),
  reason: v.nullable(v.string()),
  until: timestamp,
});

export const AlertsAnswer = v.object({ items: v.array(AlertItem), silences: v.array(SilenceItem), cursor });

const SilenceBody = v.object({
  name: v.optional(v.pipe(text, v.description("Default: every alert."))),
  labels: v.optional(v.record(v.string(), text)),
  reason: v.optional(text),
  forMs,
});
const SilencedAnswer = v.object({ until: timestamp });
const UnsilenceBody = v.object({ name: v.optional(v.pipe(text, v.description("Default: all."))) });
const UnsilencedAnswer = v.object({ removed: count });

export const TestedAnswer = v.object({
  items: v.array(v.object({ name: v.string(), kind: v.string(), sent: v.boolean(), error: v.nullable(v.string()) })),
});

/** The alerts and their silences. */
export function alertEndpoints(parts: AlertParts): Endpoint[] {
  const { alerts, readAlerts, now } = parts;
  return [
    readEndpoint(parts, {
      path: "/admin/api/alerts",
      scope: "events:read",
      summary:
        "Lists the alerts that fire or wait to fire, those that were resolved in the last week, and the silences.",
      response: AlertsAnswer,
      read: async () => ({ ...(await readAlerts()), cursor: null }),
    }),
    changeEndpoint(parts, {
      path: "/admin/api/alerts/silence",
      scope: "session",
      summary: "Keeps an alert, or every alert, from being sent for a while.",
      request: SilenceBody,
      response: SilencedAnswer,
      audited: {
        action: "alerts.silence",
        asked: ({ name = null, labels = {}, reason = null }) => ({ name, labels, reason }),
        outcome: ({ until }) => ({ until }),
      },
      async change({ name = null, labels = {}, reason = null, forMs }) {
        const until = now() + forMs;
        if (!(await alerts.silence({ name, labels, reason, until })))
          throw fieldError("name", "must be the name of an alert");
        return { until: isoTime(until) };
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/alerts/unsilence",
      scope: "session",
      summary: "Ends the silences of an alert, or all silences.",
      request: UnsilenceBody,
      response: UnsilencedAnswer,
      audited: {
        action: "alerts.unsilence",
        asked: ({ name = null }) => ({ name }),
        outcome: ({ removed }) => (removed === 0 ? null : { removed }),
      },
      change: async ({ name = null }) => ({ removed: await alerts.unsilence(name) }),
    }),
    changeEndpoint(parts, {
      path: "/admin/api/alerts/test",
      scope: "session",
      summary: "Sends a test message to each notifier of the configuration file, and tells which of them took it.",
      request: v.object({}),
      response: TestedAnswer,
      audited: null,
      change: async () => ({ items: await alerts.test() }),
    }),
  ];
}
