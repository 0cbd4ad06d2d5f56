import type { RouteAttempts } from "../events/stats.ts";
import type { Backlog, RouteRecord } from "../events/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import { bytesText, durationText } from "../lib/figures.ts";
import type { AlertName, Condition } from "./alert.ts";
import { type MissedTime, missedConditions, subscriptionConditions, type WatchedSubscription } from "./missed.ts";
import { attemptsWithin, isGrowing, type Samples } from "./samples.ts";

/** The usual bounds of the rules, which the configuration file may change. Times are milliseconds. */
export const DEFAULT_RULES = {
  failureRate: { above: 0.5, overMs: 5 * MINUTE_MS, atLeast: 20 },
  queue: { olderThanMs: 5 * MINUTE_MS, growingForMs: 15 * MINUTE_MS, atLeast: 10 },
  deadLetters: { above: 0 },
  // Undefined: twice the space below which deliveries are refused.
  disk: { below: undefined as number | undefined },
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
  logouts: { afterMs: MINUTE_MS },
};

type Bounds = typeof DEFAULT_RULES;

/** When alerts fire. Null: never. */
export type AlertRules = { [Name in keyof Bounds]: Bounds[Name] | null };

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
  /**
   * The logins of the last day from networks that were new. `account` is whose, or empty for the person of the
   * environment. `endUrl` ends the session; null without an address.
   */
  newLogins: readonly { account: string; network: string; at: number; endUrl: string | null }[] | null;
  /** Of each app, why it could not be told of the ends of sessions. */
  logouts: readonly { client: string; errors: readonly string[] }[] | null;
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

/** What an alert finds. Its name is that of the alert. */
type Found = Omit<Condition, "name">;

/** Returns what is wrong, or null if that is unknown. */
type Rule = (facts: Facts, rules: AlertRules, samples: Samples) => Found[] | null;

/** A rule with bounds, which may be off. What `measure` returns is compared with them; null is unknown. */
const rule =
  <Name extends keyof Bounds, Measured>(
    name: Name,
    measure: (facts: Facts, bounds: Bounds[Name], samples: Samples) => Measured | null,
    compare: (measured: Measured, bounds: Bounds[Name], facts: Facts, samples: Samples) => Found[],
  ): Rule =>
  (facts, rules, samples) => {
    const bounds: Bounds[Name] | null = rules[name];
    if (bounds === null) return [];
    const measured = measure(facts, bounds, samples);
    return measured === null ? null : compare(measured, bounds, facts, samples);
  };

const RULES: Record<AlertName, Rule> = {
  AuthserveFailureRate: rule(
    "failureRate",
    ({ attempts }) => attempts,
    (attempts, { above, overMs, atLeast }, { now }, samples) =>
      attemptsWithin(samples, attempts, now - overMs).flatMap(({ route, failed, all }): Found[] => {
        if (all < atLeast || failed / all <= above) return [];
        const summary = `${failed} of ${all} attempts of the route ${route} failed in the last ${durationText(overMs)}`;
        return [{ labels: { route }, summary, remedy: "authserve events list --status failed" }];
      }),
  ),
  // Its bound is that of the source.
  AuthserveSourceSilent: ({ now, sources }) =>
    sources?.flatMap((source): Found[] => {
      const { name, expectEveryMs } = source;
      const silentMs = silenceOf(source, now);
      if (silentMs === null || expectEveryMs === null) return [];
      const summary = `the source ${name} has received nothing for ${durationText(silentMs)}, and something is expected every ${durationText(expectEveryMs)}`;
      return [{ labels: { source: name }, summary, remedy: "check the webhook at the sender" }];
    }) ?? null,
  AuthserveQueueOld: rule(
    "queue",
    ({ backlog }) => {
      const at = backlog ? backlog.oldestQueuedAt : "unknown";
      return at === "unknown" ? null : { at };
    },
    ({ at }, { olderThanMs }, facts) => {
      const ageMs = at === null ? 0 : facts.now - at;
      if (ageMs <= olderThanMs) return [];
      const summary = `an event has been queued for ${durationText(ageMs)}${pausedText(facts)}`;
      return [{ labels: {}, summary, remedy: "authserve events list --status queued" }];
    },
  ),
  AuthserveQueueGrowing: rule(
    "queue",
    ({ backlog }, { growingForMs }, samples) => {
      const growing = backlog && isGrowing(samples, growingForMs);
      return growing === null ? null : { growing, queued: backlog?.queued ?? 0 };
    },
    ({ growing, queued }, { growingForMs, atLeast }, facts) => {
      if (!growing || queued < atLeast) return [];
      const summary = `the queue has been growing for ${durationText(growingForMs)}, to ${queued} events${pausedText(facts)}`;
      return [{ labels: {}, summary, remedy: "authserve routes list" }];
    },
  ),
  AuthserveDeadLetters: rule(
    "deadLetters",
    ({ routes }) => routes,
    (all, { above }) => {
      const dead = all.filter(({ failed }) => failed > 0);
      if (dead.reduce((sum, { failed }) => sum + failed, 0) <= above) return [];
      const where = dead.map(({ route, failed }) => `${failed} of the route ${route}`).join(", ");
      const routes = dead.map(({ route }) => route);
      const summary = `jobs are in the dead letters: ${where}`;
      return [{ labels: {}, routes, summary, remedy: "authserve events list --status failed" }];
    },
  ),
  AuthserveDiskLow: rule(
    "disk",
    ({ disk }) => disk,
    ({ freeBytes, minFreeBytes, isPaused }, { below = 2 * minFreeBytes }) => {
      if (!isPaused && freeBytes >= below) return [];
      const effect = isPaused ? ", and deliveries are refused" : "";
      const summary = `${bytesText(freeBytes)} are free on the disk of DATA_DIR${effect}`;
      return [{ labels: {}, summary, remedy: "make space on the disk, or shorten retention" }];
    },
  ),
  AuthserveOldSecret: rule(
    "oldSecret",
    ({ sources }) => sources,
    (sources, { afterMs: forMs }) =>
      sources.flatMap(({ name, oldSecret: secret }): Found[] => {
        if (secret === null) return [];
        const summary = `the sender of ${name} still signs with the old secret ${secret} only`;
        return [{ labels: { source: name, secret }, summary, remedy: "set the new secret at the sender", forMs }];
      }),
  ),
  AuthserveCertificateExpiring: rule(
    "certificate",
    ({ certificateEndsAt }) => (certificateEndsAt === "unknown" ? null : { endsAt: certificateEndsAt }),
    ({ endsAt }, { withinMs }, { now }) => {
      const leftMs = (endsAt ?? Number.POSITIVE_INFINITY) - now;
      if (leftMs >= withinMs) return [];
      const end = leftMs > 0 ? `ends in ${durationText(leftMs)}` : `ended ${durationText(-leftMs)} ago`;
      const remedy = "renew the files of TLS_CERT_FILE and TLS_KEY_FILE";
      return [{ labels: {}, summary: `the certificate ${end}`, remedy }];
    },
  ),
  AuthserveTokenExpiring: rule(
    "tokens",
    ({ tokens }) => tokens,
    (tokens, { withinMs }, { now }) =>
      tokens.flatMap(({ name, expiresAt }): Found[] => {
        const leftMs = (expiresAt ?? Number.POSITIVE_INFINITY) - now;
        if (leftMs >= withinMs) return [];
        const end = leftMs > 0 ? `expires in ${durationText(leftMs)}` : `expired ${durationText(-leftMs)} ago`;
        const remedy = `make a new one with authserve tokens create, give it to the program, and run authserve tokens revoke ${name}`;
        return [{ labels: { token: name }, summary: `the token ${name} ${end}`, remedy }];
      }),
  ),
  AuthserveNewLoginNetwork: rule(
    "newLoginNetwork",
    ({ newLogins }) => newLogins,
    (newLogins, { withinMs }, { now }) =>
      newLogins
        .filter(({ at }) => now - at < withinMs)
        .map(({ account, network, endUrl }) => {
          const [who, revoke, you] =
            account === "" ? ["somebody", "session revoke", "you"] : [account, `session revoke ${account}`, account];
          const summary = `${who} logged in from the network ${network}, where nobody had for 30 days`;
          const end = endUrl === null ? `run authserve ${revoke}` : `end the session at ${endUrl}`;
          const remedy = `if it was not ${you}, ${end} and change the password with authserve passwd`;
          return { labels: { network, ...(account !== "" && { person: account }) }, summary, remedy };
        }),
  ),
  AuthserveLogoutNotDelivered: rule(
    "logouts",
    ({ logouts }) => logouts,
    (logouts, { afterMs: forMs }) =>
      logouts.flatMap(({ client, errors: [first, ...others] }): Found[] => {
        if (first === undefined) return [];
        const summary = `the app ${client} was not told of the end of ${others.length + 1} sessions: ${first}`;
        const remedy = `mend what the error says, and run authserve clients retry ${client}`;
        return [{ labels: { client }, summary, remedy, forMs }];
      }),
  ),
  AuthserveNotReady: rule(
    "notReady",
    ({ parts }) => parts,
    (parts, { afterMs: forMs }) =>
      parts.flatMap(({ name, error }): Found[] => {
        if (error === null) return [];
        const summary = `${name} is not ready: ${error}`;
        return [{ labels: { part: name }, summary, remedy: "authserve doctor", forMs }];
      }),
  ),
  AuthserveDeliveriesRefused: rule(
    "refused",
    ({ refused }) => refused,
    (refused, { above }) => {
      const count = Object.values(refused).reduce((sum, number) => sum + number, 0);
      if (count <= above) return [];
      const codes = Object.entries(refused).map(([code, number]) => `${number} ${code}`);
      const summary = `${count} deliveries were refused within a minute, though they may be genuine: ${codes.join(", ")}`;
      return [{ labels: {}, summary, remedy: "authserve doctor" }];
    },
  ),
  AuthserveStoreRefusesWrites: rule(
    "writes",
    (facts) => facts,
    ({ writeError }, { afterMs: forMs }) => {
      if (writeError === null) return [];
      return [{ labels: {}, summary: `the store refuses writes: ${writeError}`, remedy: "authserve doctor", forMs }];
    },
  ),
  AuthserveUnreadableEvents: rule(
    "unreadable",
    ({ backlog }) => backlog,
    ({ unreadable }, { above }) => {
      if (unreadable <= above) return [];
      const summary = `${unreadable} dead letters have events that cannot be read`;
      return [{ labels: {}, summary, remedy: "authserve doctor" }];
    },
  ),
  AuthserveOutage: rule(
    "outage",
    ({ missed }) => missed,
    (missed, outage) => missedConditions(missed, { outage }),
  ),
  AuthserveSubscriptionEnds: rule(
    "subscription",
    ({ subscriptions }) => subscriptions,
    (all, subscription, { now }) => subscriptionConditions(all, { subscription }, now),
  ),
};

/** Compares facts with rules. `samples` has the earlier facts. */
export function findingsOf(facts: Facts, rules: AlertRules, samples: Samples): Findings {
  const unknown = new Set<AlertName>();
  const conditions = (Object.keys(RULES) as AlertName[]).flatMap((name): Condition[] => {
    const found = RULES[name](facts, rules, samples);
    if (found === null) unknown.add(name);
    return (found ?? []).map((one) => ({ ...one, name }));
  });
  return { conditions, unknown };
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

/** Which routes wait because they are paused. Their events are not old. */
function pausedText({ now, routes }: Facts): string {
  const paused = (routes ?? []).flatMap(({ route, queued, pausedAt }) =>
    pausedAt === null || queued === 0
      ? []
      : [`${queued} of the route ${route}, paused for ${durationText(Math.max(0, now - pausedAt))}`],
  );
  return paused.length === 0 ? "" : `; others wait: ${paused.join(", ")}`;
}
