import { isoTime } from "../lib/iso-time.ts";
import { ALERTS, type AlertRecord, type Silence, silencedUntil } from "./alert.ts";

/**
 * Lists alerts in JSON output: those that fire first, then those that wait to fire, then the resolved ones, the newest
 * first.
 */
export function listAlerts(
  { alerts, silences }: { alerts: readonly AlertRecord[]; silences: readonly Silence[] },
  now: number,
) {
  const sorted = alerts.toSorted((a, b) => rankOf(a) - rankOf(b) || b.since - a.since);
  return sorted.map((alert) => ({
    id: alert.id,
    name: alert.name,
    title: ALERTS[alert.name].title,
    state: stateOf(alert),
    severity: ALERTS[alert.name].severity,
    labels: { ...alert.labels },
    summary: alert.summary,
    remedy: alert.remedy,
    view: ALERTS[alert.name].view,
    since: isoTime(alert.since),
    startsAt: isoTime(alert.firedAt),
    endsAt: isoTime(alert.resolvedAt),
    silencedUntil: isoTime(silencedUntil(alert, silences, now)),
    told: alert.told?.map(({ at, ...telling }) => ({ ...telling, at: isoTime(at) })) ?? null,
  }));
}

/** The silences that have not ended, in JSON output. */
export const listSilences = (silences: readonly Silence[], now: number) =>
  silences
    .filter(({ until }) => until > now)
    .map(({ name, labels, reason, until }) => ({ name, labels: { ...labels }, reason, until: isoTime(until) }));

const STATES = ["firing", "pending", "resolved"] as const;

function stateOf({ firedAt, resolvedAt }: AlertRecord): (typeof STATES)[number] {
  if (resolvedAt !== null) return "resolved";
  return firedAt === null ? "pending" : "firing";
}

const rankOf = (alert: AlertRecord) => STATES.indexOf(stateOf(alert));
