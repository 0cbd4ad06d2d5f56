import { hash } from "node:crypto";
import { isoTime } from "../lib/iso-time.ts";
import { ALERTS, type AlertRecord } from "./alert.ts";
import type { Message } from "./store.ts";

// Alertmanager's text for an alert that is not resolved.
const NOT_RESOLVED = "0001-01-01T00:00:00Z";

/** What messages say of the server. */
export interface Sender {
  /** Names the server, e.g. its host. */
  instance: string;
  /** The public URL; empty if there is none. */
  url: string;
  /** The URL of the admin page; empty if there is none. */
  page: string;
}

/** The labels of an alert as Prometheus would have them. */
const labelsOf = ({ name, labels }: AlertRecord, { instance }: Sender) => ({
  alertname: name,
  severity: ALERTS[name].severity,
  instance,
  ...labels,
});

const annotationsOf = ({ name, summary, remedy, resolvedAt }: AlertRecord) => ({
  title: ALERTS[name].title,
  summary: resolvedAt === null ? summary : `Resolved. It was: ${summary}`,
  remedy,
});

/** The address of the view that shows more of an alert; empty if there is none. */
export const linkOf = ({ name }: AlertRecord, { page }: Sender) => (page === "" ? "" : page + ALERTS[name].view);

/** The alerts of a message that are not resolved. */
export const firingOf = ({ alerts }: Message) => alerts.filter(({ resolvedAt }) => resolvedAt === null);

/** Whether one of the alerts is firing. */
export const isFiring = (message: Message) => firingOf(message).length > 0;

/** A message in the form of Alertmanager's webhook, version 4 (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config). */
export function alertmanagerForm(message: Message, sender: Sender, receiver: string) {
  const alerts = message.alerts.map((alert) => ({
    status: alert.resolvedAt === null ? "firing" : "resolved",
    labels: labelsOf(alert, sender),
    annotations: annotationsOf(alert),
    startsAt: isoTime(alert.firedAt ?? alert.since),
    endsAt: isoTime(alert.resolvedAt) ?? NOT_RESOLVED,
    generatorURL: linkOf(alert, sender) || sender.url,
    fingerprint: alert.id,
  }));
  return {
    version: "4",
    groupKey: `{}:{instance="${sender.instance}"}`,
    truncatedAlerts: 0,
    status: isFiring(message) ? "firing" : "resolved",
    receiver,
    groupLabels: { instance: sender.instance },
    commonLabels: common(alerts.map(({ labels }) => labels)),
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
    externalURL: sender.url,
    alerts,
  };
}

/** The members that all objects have with the same value. */
function common(objects: readonly Record<string, string>[]): Record<string, string> {
  const [first = {}, ...others] = objects;
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  );
}

/** The one line that a person reads first. */
export function titleOf(message: Message, { instance }: Sender): string {
  const firing = firingOf(message).length;
  const resolved = message.alerts.length - firing;
  const parts = [firing > 0 ? `${firing} firing` : "", resolved > 0 ? `${resolved} resolved` : ""].filter(
    (part) => part !== "",
  );
  return `authserve ${instance}: ${parts.join(", ")}`;
}

/** What a person reads of an alert. */
export function lineOf({ name, summary, remedy, resolvedAt }: AlertRecord): string {
  const { severity, title } = ALERTS[name];
  if (resolvedAt !== null) return `resolved: ${title}. It was: ${summary}`;
  return `${severity}: ${title}. Now: ${summary}. To do: ${remedy}`;
}

/** The id of a message, the same at every try. */
export const messageId = ({ alerts, at }: Message) =>
  `alert_${at}_${hash("sha256", alerts.map(({ id }) => id).join()).slice(0, 12)}`;
