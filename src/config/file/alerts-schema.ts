import * as v from "valibot";
import { diskSize, duration, fraction, integer, LONGEST_AGE } from "../fields.ts";
import { key, NAME, NAME_EXPECTATION, numberOrText, TEXT, textLike } from "./fields.ts";

const URL_EXPECTATION = "expected an http or https URL, or env:NAME or file:PATH that has one";

const target = (meaning: string) =>
  key(
    textLike(/^(?:https?:\/\/|env:|file:)./, URL_EXPECTATION),
    `${meaning} A URL, or where a secret one is: \`env:NAME\` or \`file:PATH\`.`,
  );

/** A notifier as it is written in the file. */
export const NotifierSchema = v.strictObject({
  name: key(textLike(NAME, NAME_EXPECTATION), "Names it in the log. Default: its kind and host."),
  webhook: target("Posts in the form of Alertmanager's webhook."),
  secret: key(TEXT, "Signs a `webhook` as Standard Webhooks: `env:NAME` or `file:PATH`."),
  slack: target(
    "Posts to an incoming webhook of Slack, Mattermost, Discord (`/slack`) or another chat that takes its form.",
  ),
  ntfy: target("Publishes to a topic of ntfy."),
  token: key(TEXT, "The access token of `ntfy`: `env:NAME` or `file:PATH`."),
  exec: key(
    v.pipe(
      v.array(textLike(/^[^\0]*$/, "expected text without U+0000"), "expected a program and its arguments"),
      v.check(([program]) => program !== undefined && program !== "", "expected a program and its arguments"),
    ),
    "Runs a program, which gets the form of `webhook` on standard input.",
  ),
});

const period = (example: string) => duration(1000, example, LONGEST_AGE);
const most = 1_000_000_000;

/** The rules, each as a map or `off`. */
export const RULES = {
  failureRate: v.strictObject({
    above: key(numberOrText(fraction), "Fires when a larger share of a route's attempts failed. Default: `0.5`."),
    over: key(
      duration(1000, "5m", { ms: 24 * 3_600_000, text: "at most 24h" }),
      "The time in which attempts are counted. Default: `5m`.",
    ),
    atLeast: key(numberOrText(integer(1, most)), "Fewer attempts do not fire. Default: `20`."),
  }),
  queue: v.strictObject({
    olderThan: key(period("5m"), "Fires when an event has been queued for longer. Default: `5m`."),
    growingFor: key(
      duration(1000, "15m", { ms: 24 * 3_600_000, text: "at most 24h" }),
      "Fires when the queue has been growing for so long. Default: `15m`.",
    ),
    atLeast: key(numberOrText(integer(1, most)), "A growing queue with fewer events does not fire. Default: `10`."),
  }),
  deadLetters: v.strictObject({
    above: key(numberOrText(integer(0, most)), "Fires when more jobs are in the dead letters. Default: `0`."),
  }),
  disk: v.strictObject({
    below: key(
      numberOrText(diskSize, "expected a size such as 2g"),
      "Fires when less space is free on the disk of `DATA_DIR`. Default: twice `MIN_FREE_DISK`.",
    ),
  }),
  oldSecret: v.strictObject({
    after: key(period("1d"), "Fires when a sender has signed with an old secret only for so long. Default: `1d`."),
  }),
  certificate: v.strictObject({
    within: key(period("14d"), "Fires when the certificate of `TLS_CERT_FILE` ends sooner. Default: `14d`."),
  }),
  notReady: v.strictObject({
    after: key(period("15s"), "Fires when a part of `/readyz` has not been ready for so long. Default: `15s`."),
  }),
  refused: v.strictObject({
    above: key(
      numberOrText(integer(0, most)),
      "Fires when more deliveries got 503 within a minute, which the sender may not repeat. Default: `0`.",
    ),
  }),
  writes: v.strictObject({
    after: key(period("15s"), "Fires when the store has refused writes for so long. Default: `15s`."),
  }),
  unreadable: v.strictObject({
    above: key(numberOrText(integer(0, most)), "Fires when more dead letters cannot be read. Default: `0`."),
  }),
};

const orOff = <const Rule extends v.GenericSchema>(rule: Rule, meaning: string) =>
  key(v.union([v.literal("off"), rule]), `${meaning} \`off\`, or a map.`);

/** `alerts` as it is written in the file. */
export const AlertsSchema = v.strictObject({
  notify: key(v.array(NotifierSchema, "expected a list"), "Where alerts are sent. Default: nowhere."),
  failureRate: orOff(RULES.failureRate, "Failed attempts, by route."),
  queue: orOff(RULES.queue, "An old event in the queue, or a growing queue."),
  deadLetters: orOff(RULES.deadLetters, "Jobs in the dead letters."),
  disk: orOff(RULES.disk, "Little free disk space."),
  oldSecret: orOff(RULES.oldSecret, "A sender that still signs with an old secret."),
  certificate: orOff(RULES.certificate, "A TLS certificate that ends soon."),
  notReady: orOff(RULES.notReady, "A part that is not ready."),
  refused: orOff(RULES.refused, "Deliveries that the server itself refuses."),
  writes: orOff(RULES.writes, "A store that refuses writes."),
  unreadable: orOff(RULES.unreadable, "Events that cannot be read."),
});
