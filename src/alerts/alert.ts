import { createHash } from "node:crypto";

/** From the least to the most severe. */
export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The alerts. The Prometheus rules in `deploy` have the same names. */
export const ALERTS = {
  AuthserveFailureRate: { severity: "warning" },
  AuthserveSourceSilent: { severity: "warning" },
  AuthserveQueueOld: { severity: "warning" },
  AuthserveQueueGrowing: { severity: "warning" },
  AuthserveDeadLetters: { severity: "warning" },
  AuthserveDiskLow: { severity: "critical" },
  AuthserveOldSecret: { severity: "info" },
  AuthserveCertificateExpiring: { severity: "warning" },
  AuthserveTokenExpiring: { severity: "warning" },
  AuthserveNotReady: { severity: "critical" },
  AuthserveDeliveriesRefused: { severity: "critical" },
  AuthserveStoreRefusesWrites: { severity: "critical" },
  AuthserveUnreadableEvents: { severity: "critical" },
} as const satisfies Record<string, { severity: Severity }>;
export type AlertName = keyof typeof ALERTS;

/** The alert with a name, also without its prefix; null if there is none. */
export function alertNameOf(text: string): AlertName | null {
  const names = Object.keys(ALERTS) as AlertName[];
  return names.find((name) => name === text || name === `Authserve${text}`) ?? null;
}

/** What is wrong now. Alerts with the same name and labels are one. */
export interface Condition {
  name: AlertName;
  /** What it is about, e.g. a route or a source. */
  labels: Readonly<Record<string, string>>;
  /** What was measured. */
  summary: string;
  /** What to do. */
  remedy: string;
  /** It fires after it has been wrong for this long. */
  forMs?: number;
}

/** An alert as it is stored. All times are Unix milliseconds. */
export interface AlertRecord extends Omit<Condition, "forMs"> {
  id: string;
  /** Since when it has been wrong. */
  since: number;
  /** Null while it waits to fire. */
  firedAt: number | null;
  /** Null until it is resolved. */
  resolvedAt: number | null;
  /** Whether its firing has been sent. */
  isAnnounced: boolean;
}

/** Keeps alerts from being sent for a while. */
export interface Silence {
  id: string;
  /** Null: every alert. */
  name: AlertName | null;
  /** Labels that an alert must have. */
  labels: Readonly<Record<string, string>>;
  reason: string | null;
  /** Unix milliseconds. */
  until: number;
}

/** The id of an alert: the same for the same name and labels. */
export function alertId({ name, labels }: Pick<Condition, "name" | "labels">): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([name, sorted]))
    .digest("hex")
    .slice(0, 16);
}

/** When the silences that match an alert end. Null if none matches. */
export function silencedUntil(
  { name, labels }: Pick<Condition, "name" | "labels">,
  silences: readonly Silence[],
  now: number,
): number | null {
  const matching = silences.filter(
    (silence) =>
      silence.until > now &&
      (silence.name === null || silence.name === name) &&
      Object.entries(silence.labels).every(([label, value]) => labels[label] === value),
  );
  return matching.length === 0 ? null : Math.max(...matching.map(({ until }) => until));
}
