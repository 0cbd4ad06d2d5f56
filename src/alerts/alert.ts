import { createHash } from "node:crypto";

/** From the least to the most severe. */
export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * The alerts. The Prometheus rules in `deploy` have the same names. `title` is the name for people, and `view` the
 * place on the admin page that shows more.
 */
export const ALERTS = {
  AuthserveFailureRate: { severity: "warning", title: "Attempts fail", view: "#/routes" },
  AuthserveSourceSilent: { severity: "warning", title: "A sender is silent", view: "#/sources" },
  AuthserveQueueOld: { severity: "warning", title: "Events wait too long", view: "#/events?status=queued" },
  AuthserveQueueGrowing: { severity: "warning", title: "The queue grows", view: "#/events?status=queued" },
  AuthserveDeadLetters: { severity: "warning", title: "Dead letters", view: "#/dead-letters" },
  AuthserveDiskLow: { severity: "critical", title: "Little disk space", view: "#/" },
  AuthserveOldSecret: { severity: "info", title: "An old secret is in use", view: "#/sources" },
  AuthserveCertificateExpiring: { severity: "warning", title: "The certificate ends", view: "#/alerts" },
  AuthserveTokenExpiring: { severity: "warning", title: "A token expires", view: "#/tokens" },
  AuthserveNewLoginNetwork: { severity: "warning", title: "A login from a new network", view: "#/alerts" },
  AuthserveLogoutNotDelivered: { severity: "warning", title: "An app was not told of a logout", view: "#/session" },
  AuthserveNotReady: { severity: "critical", title: "The server is not ready", view: "#/alerts" },
  AuthserveDeliveriesRefused: { severity: "critical", title: "Deliveries are refused", view: "#/alerts" },
  AuthserveStoreRefusesWrites: { severity: "critical", title: "The store refuses writes", view: "#/alerts" },
  AuthserveUnreadableEvents: { severity: "critical", title: "Events cannot be read", view: "#/dead-letters" },
  AuthserveOutage: { severity: "warning", title: "Deliveries were missed", view: "#/outages" },
  AuthserveSubscriptionEnds: { severity: "warning", title: "A subscription ends", view: "#/alerts" },
} as const satisfies Record<string, { severity: Severity; title: string; view: string }>;
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
  /** The routes that it is about, if they are not labels. One that joins is announced. */
  routes?: readonly string[];
  /** It fires after it has been wrong for this long. */
  forMs?: number;
}

/** `retried` has failed and is tried again, `failed` is not. */
export const TELLING_STATES = ["queued", "sent", "retried", "failed"] as const;

/** What has become of a message about an alert for one notifier. */
export interface Telling {
  notifier: string;
  /** What the alert did. */
  of: "firing" | "resolved";
  state: (typeof TELLING_STATES)[number];
  /** Since when it has this state, in Unix milliseconds. */
  at: number;
  /** Why the last try failed; null if none did. */
  error: string | null;
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
  /** Who was told. Undefined if it was announced by a version that did not keep it. */
  told?: readonly Telling[];
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
