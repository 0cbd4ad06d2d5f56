import { describeError, systemCode } from "../errors.ts";
import { failureOf, runCommand } from "../lib/run-command.ts";
import { sendRequest } from "../lib/send-request.ts";
import { signStandard } from "../lib/standard-webhooks.ts";
import { ALERTS, type AlertRecord, SEVERITIES, type Severity } from "./alert.ts";
import { alertmanagerForm, firingOf, isFiring, lineOf, linkOf, messageId, type Sender, titleOf } from "./messages.ts";
import type { Message } from "./store.ts";

/** Where alerts are sent. `name` is shown and stored; URLs may be secret. */
export type Notifier = { name: string } & (
  | { kind: "webhook"; url: string; key: Uint8Array | null }
  | { kind: "slack"; url: string }
  | { kind: "ntfy"; url: string; token: string | null }
  | { kind: "exec"; command: readonly string[]; folder: string }
);

/** Sends a message to a notifier. Throws with a text for people if that failed. */
export type Notify = (notifier: Notifier, message: Message, signal: AbortSignal) => Promise<void>;

const TIMEOUT_MS = 10_000;

/** Creates the sending of messages. `environment` is that of programs. */
export function createNotify(
  sender: Sender,
  environment: () => NodeJS.ProcessEnv,
  now: () => number = Date.now,
): Notify {
  async function run(
    { name, command, folder }: Extract<Notifier, { kind: "exec" }>,
    message: Message,
    signal: AbortSignal,
  ) {
    const [file = "", ...args] = command;
    const input = JSON.stringify(alertmanagerForm(message, sender, name));
    const status = {
      AUTHSERVE_ALERT_STATUS: isFiring(message) ? "firing" : "resolved",
      AUTHSERVE_ALERT_TITLE: titleOf(message, sender),
    };
    const ended = await runCommand(
      { file, args, folder, environment: { ...environment(), ...status }, input },
      AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    ).catch((error: unknown) => {
      throw new Error(`the command cannot be started (${systemCode(error)})`);
    });
    if (ended.code !== 0) throw new Error(failureOf(ended));
  }

  return (notifier, message, signal) => {
    switch (notifier.kind) {
      case "webhook": {
        const body = JSON.stringify(alertmanagerForm(message, sender, notifier.name));
        const headers = notifier.key && { ...signStandard(messageId(message), body, notifier.key, now()) };
        return post(notifier.url, body, headers ?? {}, signal);
      }
      case "slack":
        return post(notifier.url, JSON.stringify({ text: slackText(message, sender) }), {}, signal);
      case "ntfy":
        return post(
          notifier.url,
          message.alerts.map(lineOf).join("\n"),
          ntfyHeaders(notifier.token, message, sender),
          signal,
        );
      case "exec":
        return run(notifier, message, signal);
    }
  };
}

async function post(url: string, body: string, headers: Record<string, string>, signal: AbortSignal): Promise<void> {
  const sent = {
    url,
    isLocal: false,
    timeoutMs: TIMEOUT_MS,
    signal,
    body,
    headers: { "user-agent": "authserve", ...headers },
  };
  const { status } = await sendRequest(sent).catch((error: unknown) => {
    throw new Error(`no answer (${describeError(error)})`);
  });
  if (status < 200 || status >= 300) throw new Error(`the answer was ${status}`);
}

/** Slack reads `&`, `<` and `>` as markup (https://docs.slack.dev/messaging/formatting-message-text). */
function slackText(message: Message, sender: Sender): string {
  const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const lines = message.alerts.map((alert) => {
    const link = linkOf(alert, sender);
    return `• ${escaped(lineOf(alert))}${link === "" ? "" : ` <${escaped(link)}|Open>`}`;
  });
  return [`*${escaped(titleOf(message, sender))}*`, ...lines].join("\n");
}

const PRIORITIES = { info: "2", warning: "4", critical: "5" };

/** Headers of ntfy (https://docs.ntfy.sh/publish). */
function ntfyHeaders(token: string | null, message: Message, sender: Sender): Record<string, string> {
  const severityOf = ({ name }: AlertRecord): Severity => ALERTS[name].severity;
  const firing = firingOf(message);
  const severity = SEVERITIES.findLast((candidate) => firing.some((alert) => severityOf(alert) === candidate));
  const shown = firing.find((alert) => severityOf(alert) === severity) ?? message.alerts[0];
  const click = shown ? linkOf(shown, sender) : "";
  return {
    "content-type": "text/plain; charset=utf-8",
    title: headerText(titleOf(message, sender)),
    priority: severity === undefined ? "3" : PRIORITIES[severity],
    tags: severity === undefined ? "white_check_mark" : "rotating_light",
    ...(click !== "" && { click }),
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
}

/** A header has ASCII only. Other text is encoded as in RFC 2047, which ntfy reads. */
const headerText = (text: string) =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`;
