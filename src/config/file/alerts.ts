import * as v from "valibot";
import { DEFAULT_RULES } from "../../alerts/rules.ts";
import type { AlertConfig } from "../../alerts/watch.ts";
import { diskSize, duration, fraction, integer, MAX_AGE } from "../fields.ts";
import { formatDuration } from "../units.ts";
import { key, keyOr, numberOrText } from "./fields.ts";
import { NotifiersSchema } from "./notifiers.ts";
import { map, type Whole } from "./shape.ts";

export const DEFAULT_ALERTS: AlertConfig = { rules: DEFAULT_RULES, notifiers: [] };

const A_DAY = { ms: 24 * 3_600_000, text: "at most 24h" };

/** A duration whose default is an example of it. */
const period = (standardMs: number, meaning: string, longest = MAX_AGE) => ({
  ...keyOr(duration(1000, formatDuration(standardMs), longest), formatDuration(standardMs), meaning),
  isPeriod: true as const,
});

const number = (least: number, standard: number, meaning: string) =>
  keyOr(numberOrText(integer(least, 1_000_000_000)), standard, meaning);

const off = v.pipe(
  v.literal("off"),
  v.transform(() => null),
);

/** The keys of a rule. The names of durations end in `Ms`. */
type Rule<Entries extends v.ObjectEntries> = {
  [Name in keyof Entries as Entries[Name] extends { isPeriod: true }
    ? `${Name & string}Ms`
    : Name]: Whole<Entries>[Name & keyof Whole<Entries>];
};

/** A rule, which may be off. Each of its keys has a default, or may be missing. */
const rule = <const Entries extends v.ObjectEntries>(meaning: string, entries: Entries) => {
  const names = Object.entries(entries).map(([key, schema]) => [key, "isPeriod" in schema ? `${key}Ms` : key] as const);
  const read = (entry: Record<string, unknown>) =>
    Object.fromEntries(names.map(([key, name]) => [name, entry[key]])) as Rule<Entries>;
  return v.pipe(
    v.optional(v.union([off, map(entries, undefined, { read })], "expected a map or off"), {} as never),
    v.description(`${meaning} \`off\`, or a map.`),
  );
};

const {
  failureRate,
  queue,
  deadLetters,
  oldSecret,
  certificate,
  tokens,
  notReady,
  refused,
  writes,
  unreadable,
  outage,
  subscription,
  newLoginNetwork,
  logouts,
} = DEFAULT_RULES;

/** When alerts fire, and where they are sent. What is missing has its default. */
export const AlertsSchema = map(
  {
    notify: key(NotifiersSchema, "Where alerts are sent. Default: nowhere."),
    failureRate: rule("Failed attempts, by route.", {
      above: keyOr(
        numberOrText(fraction),
        failureRate.above,
        "Fires when a larger share of a route's attempts failed.",
      ),
      over: period(failureRate.overMs, "The time in which attempts are counted.", A_DAY),
      atLeast: number(1, failureRate.atLeast, "Fewer attempts do not fire."),
    }),
    queue: rule("An old event in the queue, or a growing queue.", {
      olderThan: period(queue.olderThanMs, "Fires when an event has been queued for longer."),
      growingFor: period(queue.growingForMs, "Fires when the queue has been growing for so long.", A_DAY),
      atLeast: number(1, queue.atLeast, "A growing queue with fewer events does not fire."),
    }),
    deadLetters: rule("Jobs in the dead letters.", {
      above: number(0, deadLetters.above, "Fires when more jobs are in the dead letters."),
    }),
    disk: rule("Little free disk space.", {
      below: key(
        numberOrText(diskSize, "expected a size such as 2g"),
        "Fires when less space is free on the disk of `DATA_DIR`. Default: twice `MIN_FREE_DISK`.",
      ),
    }),
    oldSecret: rule("A sender that still signs with an old secret.", {
      after: period(oldSecret.afterMs, "Fires when a sender has signed with an old secret only for so long."),
    }),
    certificate: rule("A TLS certificate that ends soon.", {
      within: period(certificate.withinMs, "Fires when the certificate of `TLS_CERT_FILE` ends sooner."),
    }),
    tokens: rule("A token that expires soon.", {
      within: period(tokens.withinMs, "Fires when a token expires sooner, until it is revoked."),
    }),
    notReady: rule("A part that is not ready, a limit of the system that is nearly reached, or a lost key.", {
      after: period(
        notReady.afterMs,
        "Fires when a part of `/readyz` has not been ready for so long, or a limit or key is wrong for so long.",
      ),
    }),
    refused: rule("Deliveries that the server itself refuses.", {
      above: number(
        0,
        refused.above,
        "Fires when more deliveries got 503 within a minute, which the sender may not repeat.",
      ),
    }),
    writes: rule("A store that refuses writes.", {
      after: period(writes.afterMs, "Fires when the store has refused writes for so long."),
    }),
    unreadable: rule("Events that cannot be read.", {
      above: number(0, unreadable.above, "Fires when more dead letters cannot be read."),
    }),
    outage: rule("A time in which deliveries were missed that the provider may not repeat.", {
      longerThan: period(outage.longerThanMs, "Fires for a day after a longer one, or until the source has caught up."),
    }),
    subscription: rule("A subscription at a provider that ends.", {
      within: period(subscription.withinMs, "Fires when one with `expiresAt` ends sooner, or when a renewal fails."),
    }),
    newLoginNetwork: rule("A login from a network that nobody had logged in from for 30 days.", {
      within: period(newLoginNetwork.withinMs, "Fires for so long after the login.", A_DAY),
    }),
    logouts: rule("An app that could not be told of the end of a session.", {
      after: period(
        logouts.afterMs,
        "Fires when telling it has failed for so long, until a day after the last attempt.",
      ),
    }),
  },
  "expected a map such as { deadLetters: { above: 0 } }",
  { read: ({ notify: notifiers = [], ...rules }): AlertConfig => ({ rules, notifiers }) },
);
