import { hash } from "node:crypto";
import { isoTime } from "../lib/iso-time.ts";
import { ALERTS, type AlertRecord, SEVERITIES, type Severity } from "./alert.ts";
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
const linkOf = ({ name }: AlertRecord, { page }: Sender) => (page === "" ? "" : page + ALERTS[name].view);

/** The alerts of a message that are not resolved. */
const firingOf = ({ alerts }: Message) => alerts.filter(({ resolvedAt }) => resolvedAt === null);

/** Whether one of the alerts is firing. */
export const isFiring = (message: Message) => firingOf(message).length > 0;

const isOf =
  (severity: Severity | undefined) =>
  ({ name }: AlertRecord) =>
    ALERTS[name].severity === severity;

/** The highest severity of the alerts that fire; undefined if none does. */
export const severityOf = (message: Message): Severity | undefined =>
  SEVERITIES.findLast((severity) => firingOf(message).some(isOf(severity)));

/** The link of the alert that matters most; empty if there is none. */
export function mainLinkOf(message: Message, sender: Sender): string {
  const shown = firingOf(message).find(isOf(severityOf(message))) ?? message.alerts[0];
  return shown ? linkOf(shown, sender) : "";
}

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

/** The alerts of a message, each with its link, as plain text. */
export const plainText = (message: Message, sender: Sender) =>
  message.alerts
    .map((alert) => [lineOf(alert), linkOf(alert, sender)].filter((line) => line !== "").join("\n"))
    .join("\n\n");

/** How a chat marks text up. */
export interface Markup {
  /** What is before and after bold text. */
  bold: string;
  /** The text without markup of its own. */
  escaped(text: string): string;
  link(url: string): string;
}

/** A message with the markup of a chat: the title, and a line for each alert. */
export function markedUp(message: Message, sender: Sender, { bold, escaped, link }: Markup): string {
  const lines = message.alerts.map((alert) => {
    const url = linkOf(alert, sender);
    return `• ${escaped(lineOf(alert))}${url === "" ? "" : ` ${link(url)}`}`;
  });
  return [`${bold}${escaped(titleOf(message, sender))}${bold}`, ...lines].join("\n");
}

/** A text of at most this length. A longer one ends with `…`, after a line if that is near. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const lineEnd = text.lastIndexOf("\n", maxLength - 2);
  const cut = text.slice(0, lineEnd > maxLength / 2 ? lineEnd + 1 : maxLength - 1);
  // Half a character is none.
  return `${cut.replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** The id of a message, the same at every try. */
export const messageId = ({ alerts, at }: Message) =>
  `alert_${at}_${hash("sha256", alerts.map(({ id }) => id).join()).slice(0, 12)}`;
