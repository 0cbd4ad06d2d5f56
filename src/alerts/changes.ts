import { type AlertRecord, alertId, type Condition, type Silence, silencedUntil } from "./alert.ts";
import type { Findings } from "./rules.ts";
import type { AlertChanges } from "./store.ts";
import { reachedNobody, type SendOutcome, withOutcomes, withQueued } from "./tellings.ts";

// Resolved alerts are listed for this long.
const KEPT_MS = 7 * 86_400_000;

/** What has happened since the last time. */
interface News {
  findings: Findings;
  silences: readonly Silence[];
  /** The names of those that are configured. */
  notifiers: readonly string[];
  /** Of messages that were sent. */
  outcomes: readonly SendOutcome[];
  now: number;
}

/**
 * Decides what becomes of the alerts. Announced is what fires or is resolved since the last time, unless it is
 * silenced. What was announced to nobody is announced again once there is a notifier.
 */
export function changesOf(known: readonly AlertRecord[], news: News): AlertChanges {
  const { notifiers, outcomes, now } = news;
  const { conditions, unknown } = news.findings;
  const found = new Map(conditions.map((condition) => [alertId(condition), condition]));
  const before = new Map(known.map((alert) => [alert.id, alert]));
  const removed: string[] = [];
  const after: AlertRecord[] = [];

  for (const alert of known.map((one) => withOutcomes(one, outcomes))) {
    const condition = found.get(alert.id);
    if (condition !== undefined && alert.resolvedAt === null) after.push(continued(alert, condition, now));
    else if (condition !== undefined) after.push(begun(condition, now));
    else if (unknown.has(alert.name) || alert.resolvedAt !== null) after.push(alert);
    else if (alert.firedAt !== null) after.push({ ...alert, resolvedAt: now });
    // It did not last long enough to fire.
    else removed.push(alert.id);
  }
  for (const [id, condition] of found) if (!before.has(id)) after.push(begun(condition, now));

  const [old, kept] = split(after, ({ resolvedAt }) => resolvedAt !== null && resolvedAt < now - KEPT_MS);
  const announced = kept.filter((alert) => isNews(alert, before.get(alert.id), news));
  const announcedIds = new Set(announced.map(({ id }) => id));
  const records = kept.map((alert) => (announcedIds.has(alert.id) ? withQueued(alert, notifiers, now) : alert));
  return {
    changed: records.filter((alert) => hasChanged(alert, before.get(alert.id))),
    removed: [...removed, ...old.map(({ id }) => id)],
    message: announced.length === 0 ? null : { alerts: announced, at: now },
    notifiers,
  };
}

function begun(condition: Condition, now: number): AlertRecord {
  const { forMs = 0, ...rest } = condition;
  const firedAt = forMs === 0 ? now : null;
  return { ...rest, id: alertId(condition), since: now, firedAt, resolvedAt: null, isAnnounced: false, told: [] };
}

/** An alert that is still wrong, with what is measured now. A route that joins it is announced. */
function continued(alert: AlertRecord, { forMs = 0, summary, remedy, routes }: Condition, now: number): AlertRecord {
  const isDue = alert.firedAt === null && now - alert.since >= forMs;
  const hasJoined = alert.routes !== undefined && routes?.some((route) => !alert.routes?.includes(route));
  return {
    ...alert,
    summary,
    remedy,
    ...(routes && { routes }),
    ...(isDue && { firedAt: now }),
    ...(hasJoined && { isAnnounced: false }),
  };
}

function isNews(alert: AlertRecord, earlier: AlertRecord | undefined, { silences, notifiers, now }: News): boolean {
  // What was announced is also announced when it is resolved, or nobody would know.
  if (alert.resolvedAt !== null) return alert.isAnnounced && earlier?.resolvedAt === null;
  const isUntold = !alert.isAnnounced || (notifiers.length > 0 && reachedNobody(alert));
  return isUntold && alert.firedAt !== null && silencedUntil(alert, silences, now) === null;
}

const hasChanged = (alert: AlertRecord, before: AlertRecord | undefined) =>
  before === undefined ||
  (["since", "firedAt", "resolvedAt", "isAnnounced", "summary", "remedy", "told"] as const).some(
    (member) => alert[member] !== before[member],
  );

function split<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
