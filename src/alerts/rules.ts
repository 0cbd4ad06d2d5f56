import type { RouteAttempts } from "../events/stats.ts";
import type { Backlog, RouteRecord } from "../events/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import { bytesText, durationText } from "../lib/figures.ts";
import type { AlertName, Condition } from "./alert.ts";
import { type MissedTime, missedConditions, subscriptionConditions, type WatchedSubscription } from "./missed.ts";
import { attemptsWithin, isGrowing, type Samples } from "./samples.ts";

/** When alerts fire. Null: never. Times are milliseconds. */
export interface AlertRules {
  failureRate: { above: number; overMs: number; atLeast: number } | null;
  queue: { olderThanMs: number; growingForMs: number; atLeast: number } | null;
  deadLetters: { above: number } | null;
  /** Undefined: twice the space below which deliveries are refused. */
  disk: { below: number | undefined } | null;
  oldSecret: { afterMs: number } | null;
  certificate: { withinMs: number } | null;
  tokens: { withinMs: number } | null;
  notReady: { afterMs: number } | null;
  refused: { above: number } | null;
  writes: { afterMs: number } | null;
  unreadable: { above: number } | null;
  outage: { longerThanMs: number } | null;
  subscription: { withinMs: number } | null;
  newLoginNetwork: { withinMs: number } | null;
}

export const DEFAULT_RULES = {
  failureRate: { above: 0.5, overMs: 5 * MINUTE_MS, atLeast: 20 },
  queue: { olderThanMs: 5 * MINUTE_MS, growingForMs: 15 * MINUTE_MS, atLeast: 10 },
  deadLetters: { above: 0 },
  disk: { below: undefined },
  oldSecret: { afterMs: DAY_MS },
  certificate: { withinMs: 14 * DAY_MS },
  tokens: { withinMs: 7 * DAY_MS },
  notReady: { afterMs: 15_000 },
  refused: { above: 0 },
  writes: { afterMs: 15_000 },
  unreadable: { above: 0 },
  outage: { longerThanMs: 5 * MINUTE_MS },
  subscription: { withinMs: DAY_MS },
  newLoginNetwork: { withinMs: HOUR_MS },
} satisfies AlertRules;

/** What is watched of a source. Times are Unix milliseconds. */
export interface WatchedSource {
  name: string;
  /** The longest usual time between two deliveries, in milliseconds. Null if it is not configured. */
  expectEveryMs: number | null;
  lastReceivedAt: number | null;
  /** The old secret that the sender still signs with, by name. Null if it uses the newest one. */
  oldSecret: string | null;
}

/** What was measured. Null is unknown: alerts about it stay as they are. */
export interface Facts {
  now: number;
  /** `oldestQueuedAt` leaves out events that wait for paused routes only. */
  backlog: (Pick<Backlog, "queued" | "unreadable"> & { oldestQueuedAt: number | null | "unknown" }) | null;
  routes: readonly Pick<RouteRecord, "route" | "queued" | "failed" | "pausedAt">[] | null;
  /** The attempts of the last minutes, as far back as the rule needs. */
  attempts: readonly RouteAttempts[] | null;
  sources: readonly WatchedSource[] | null;
  disk: { freeBytes: number; minFreeBytes: number; isPaused: boolean } | null;
  /** Null without a certificate. */
  certificateEndsAt: number | null | "unknown";
  /** The tokens of programs. Those that never expire have null. */
  tokens: readonly { name: string; expiresAt: number | null }[] | null;
  /** The logins of the last day from networks that were new. `endUrl` ends the session; null without an address. */
  newLogins: readonly { network: string; at: number; endUrl: string | null }[] | null;
  /** The parts of `/readyz`, limits of the system, and the keys of encryption, each with what is wrong, or null. */
  parts: readonly { name: string; error: string | null }[];
  /** The deliveries that the server refused for reasons of its own within the last minute, by code. */
  refused: Readonly<Record<string, number>>;
  /** Why the store has refused the last write; null if it took it. */
  writeError: string | null;
  /** What was missed within the last day, and is at risk. */
  missed: readonly MissedTime[] | null;
  subscriptions: readonly WatchedSubscription[] | null;
}

/** What is wrong, and what is unknown. */
export interface Findings {
  conditions: Condition[];
  unknown: ReadonlySet<AlertName>;
}

// A sender may be late by a fifth of its period.
const GRACE = 1.2;

/** Compares facts with rules. `samples` has the earlier facts. */
export function findingsOf(facts: Facts, rules: AlertRules, samples: Samples): Findings {
  const unknown = new Set<AlertName>();
  if (facts.backlog === null) unknown.add("AuthserveUnreadableEvents");
  if (facts.backlog === null || facts.backlog.oldestQueuedAt === "unknown") unknown.add("AuthserveQueueOld");
  if (facts.routes === null) unknown.add("AuthserveDeadLetters");
  if (facts.attempts === null) unknown.add("AuthserveFailureRate");
  if (facts.sources === null) unknown.add("AuthserveSourceSilent").add("AuthserveOldSecret");
  if (facts.newLogins === null) unknown.add("AuthserveNewLoginNetwork");
  if (facts.tokens === null) unknown.add("AuthserveTokenExpiring");
  if (facts.missed === null) unknown.add("AuthserveOutage");
  if (facts.subscriptions === null) unknown.add("AuthserveSubscriptionEnds");
  if (facts.disk === null && rules.disk !== null) unknown.add("AuthserveDiskLow");
  if (facts.certificateEndsAt === "unknown" && rules.certificate !== null) unknown.add("AuthserveCertificateExpiring");
  const growing = rules.queue === null ? false : facts.backlog && isGrowing(samples, rules.queue.growingForMs);
  if (growing === null) unknown.add("AuthserveQueueGrowing");
  const conditions = [
    ...failureRates(facts, rules, samples),
    ...(facts.sources ?? []).flatMap((source) => silence(source, facts)),
    ...oldQueue(facts, rules),
    ...(growing === true ? growingQueue(facts, rules) : []),
    ...deadLetters(facts, rules),
    ...lowDisk(facts, rules),
    ...(facts.sources ?? []).flatMap((source) => oldSecret(source, rules)),
    ...certificate(facts, rules),
    ...expiringTokens(facts, rules),
    ...newLoginNetworks(facts, rules),
    ...partsNotReady(facts, rules),
    ...refusedDeliveries(facts, rules),
    ...refusedWrites(facts, rules),
    ...unreadableEvents(facts, rules),
    ...missedConditions(facts.missed, rules),
    ...subscriptionConditions(facts.subscriptions, rules, facts.now),
  ];
  return { conditions, unknown };
}

function failureRates({ now, attempts }: Facts, { failureRate }: AlertRules, samples: Samples): Condition[] {
  if (failureRate === null || attempts === null) return [];
  const { above, overMs, atLeast } = failureRate;
  return attemptsWithin(samples, attempts, now - overMs).flatMap(({ route, failed, all }): Condition[] => {
    if (all < atLeast || failed / all <= above) return [];
    const summary = `${failed} of ${all} attempts of the route ${route} failed in the last ${durationText(overMs)}`;
    return [
      { name: "AuthserveFailureRate", labels: { route }, summary, remedy: "authserve events list --status failed" },
    ];
  });
}

/** How long nothing has come to a source, in milliseconds. Null if that is not too long, or nothing ever came. */
export function silenceOf(
  { expectEveryMs, lastReceivedAt }: Pick<WatchedSource, "expectEveryMs" | "lastReceivedAt">,
  now: number,
): number | null {
  if (expectEveryMs === null || lastReceivedAt === null) return null;
  const silentMs = now - lastReceivedAt;
  return silentMs > expectEveryMs * GRACE ? silentMs : null;
}

function silence(source: WatchedSource, { now }: Facts): Condition[] {
  const { name, expectEveryMs } = source;
  const silentMs = silenceOf(source, now);
  if (silentMs === null || expectEveryMs === null) return [];
  const summary = `the source ${name} has received nothing for ${durationText(silentMs)}, and something is expected every ${durationText(expectEveryMs)}`;
  return [
    { name: "AuthserveSourceSilent", labels: { source: name }, summary, remedy: "check the webhook at the sender" },
  ];
}

function oldQueue(facts: Facts, { queue }: AlertRules): Condition[] {
  const { now, backlog } = facts;
  const oldestQueuedAt = backlog?.oldestQueuedAt ?? null;
  if (queue === null || oldestQueuedAt === "unknown" || oldestQueuedAt === null) return [];
  const ageMs = now - oldestQueuedAt;
  if (ageMs <= queue.olderThanMs) return [];
  const summary = `an event has been queued for ${durationText(ageMs)}${pausedText(facts)}`;
  return [{ name: "AuthserveQueueOld", labels: {}, summary, remedy: "authserve events list --status queued" }];
}

/** Which routes wait because they are paused. Their events are not old. */
function pausedText({ now, routes }: Facts): string {
  const paused = (routes ?? []).flatMap(({ route, queued, pausedAt }) =>
    pausedAt === null || queued === 0
      ? []
      : [`${queued} of the route ${route}, paused for ${durationText(Math.max(0, now - pausedAt))}`],
  );
  return paused.length === 0 ? "" : `; others wait: ${paused.join(", ")}`;
}

function growingQueue(facts: Facts, { queue }: AlertRules): Condition[] {
  const { backlog } = facts;
  if (queue === null || backlog === null || backlog.queued < queue.atLeast) return [];
  const summary = `the queue has been growing for ${durationText(queue.growingForMs)}, to ${backlog.queued} events${pausedText(facts)}`;
  return [{ name: "AuthserveQueueGrowing", labels: {}, summary, remedy: "authserve routes list" }];
}

function deadLetters(facts: Facts, rules: AlertRules): Condition[] {
  const dead = (facts.routes ?? []).filter(({ failed }) => failed > 0);
  const count = dead.reduce((sum, { failed }) => sum + failed, 0);
  if (rules.deadLetters === null || count <= rules.deadLetters.above) return [];
  const where = dead.map(({ route, failed }) => `${failed} of the route ${route}`).join(", ");
  const summary = `jobs are in the dead letters: ${where}`;
  const routes = dead.map(({ route }) => route);
  const remedy = "authserve events list --status failed";
  return [{ name: "AuthserveDeadLetters", labels: {}, routes, summary, remedy }];
}

function lowDisk({ disk }: Facts, rules: AlertRules): Condition[] {
  if (rules.disk === null || disk === null) return [];
  const below = rules.disk.below ?? 2 * disk.minFreeBytes;
  if (!disk.isPaused && disk.freeBytes >= below) return [];
  const effect = disk.isPaused ? ", and deliveries are refused" : "";
  const summary = `${bytesText(disk.freeBytes)} are free on the disk of DATA_DIR${effect}`;
  return [{ name: "AuthserveDiskLow", labels: {}, summary, remedy: "make space on the disk, or shorten retention" }];
}

function oldSecret({ name, oldSecret: secret }: WatchedSource, rules: AlertRules): Condition[] {
  if (rules.oldSecret === null || secret === null) return [];
  const summary = `the sender of ${name} still signs with the old secret ${secret} only`;
  const labels = { source: name, secret };
  return [
    {
      name: "AuthserveOldSecret",
      labels,
      summary,
      remedy: "set the new secret at the sender",
      forMs: rules.oldSecret.afterMs,
    },
  ];
}

function certificate({ now, certificateEndsAt }: Facts, rules: AlertRules): Condition[] {
  if (rules.certificate === null || typeof certificateEndsAt !== "number") return [];
  const leftMs = certificateEndsAt - now;
  if (leftMs >= rules.certificate.withinMs) return [];
  const summary =
    leftMs > 0
      ? `the certificate ends in ${durationText(leftMs)}`
      : `the certificate ended ${durationText(-leftMs)} ago`;
  return [
    {
      name: "AuthserveCertificateExpiring",
      labels: {},
      summary,
      remedy: "renew the files of TLS_CERT_FILE and TLS_KEY_FILE",
    },
  ];
}

function expiringTokens({ now, tokens }: Facts, rules: AlertRules): Condition[] {
  const { tokens: rule } = rules;
  if (rule === null || tokens === null) return [];
  return tokens.flatMap(({ name, expiresAt }): Condition[] => {
    const leftMs = (expiresAt ?? Number.POSITIVE_INFINITY) - now;
    if (leftMs >= rule.withinMs) return [];
    const end = leftMs > 0 ? `expires in ${durationText(leftMs)}` : `expired ${durationText(-leftMs)} ago`;
    const summary = `the token ${name} ${end}`;
    const remedy = `make a new one with authserve tokens create, give it to the program, and run authserve tokens revoke ${name}`;
    return [{ name: "AuthserveTokenExpiring", labels: { token: name }, summary, remedy }];
  });
}

function newLoginNetworks({ now, newLogins }: Facts, { newLoginNetwork }: AlertRules): Condition[] {
  if (newLoginNetwork === null) return [];
  const recent = (newLogins ?? []).filter(({ at }) => now - at < newLoginNetwork.withinMs);
  return recent.map(({ network, endUrl }): Condition => {
    const summary = `somebody logged in from the network ${network}, where nobody had for 30 days`;
    const end = endUrl === null ? "run authserve session revoke" : `end the session at ${endUrl}`;
    const remedy = `if it was not you, ${end} and change the password with authserve passwd`;
    return { name: "AuthserveNewLoginNetwork", labels: { network }, summary, remedy };
  });
}

function partsNotReady({ parts }: Facts, { notReady }: AlertRules): Condition[] {
  if (notReady === null) return [];
  return parts.flatMap(({ name, error }): Condition[] =>
    error === null
      ? []
      : [
          {
            name: "AuthserveNotReady",
            labels: { part: name },
            summary: `${name} is not ready: ${error}`,
            remedy: "authserve doctor",
            forMs: notReady.afterMs,
          },
        ],
  );
}

function refusedDeliveries({ refused }: Facts, rules: AlertRules): Condition[] {
  const count = Object.values(refused).reduce((sum, number) => sum + number, 0);
  if (rules.refused === null || count <= rules.refused.above) return [];
  const codes = Object.entries(refused).map(([code, number]) => `${number} ${code}`);
  const summary = `${count} deliveries were refused within a minute, though they may be genuine: ${codes.join(", ")}`;
  return [{ name: "AuthserveDeliveriesRefused", labels: {}, summary, remedy: "authserve doctor" }];
}

function refusedWrites({ writeError }: Facts, { writes }: AlertRules): Condition[] {
  if (writes === null || writeError === null) return [];
  const summary = `the store refuses writes: ${writeError}`;
  return [
    { name: "AuthserveStoreRefusesWrites", labels: {}, summary, remedy: "authserve doctor", forMs: writes.afterMs },
  ];
}

function unreadableEvents({ backlog }: Facts, { unreadable }: AlertRules): Condition[] {
  if (unreadable === null || backlog === null || backlog.unreadable <= unreadable.above) return [];
  const summary = `${backlog.unreadable} dead letters have events that cannot be read`;
  return [{ name: "AuthserveUnreadableEvents", labels: {}, summary, remedy: "authserve doctor" }];
}
