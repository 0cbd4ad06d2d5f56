import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { ErrorCode } from "./errors.ts";
import type { Backlog, RouteRecord } from "./events/store.ts";

/** The metrics as a text. */
interface MetricsText {
  /** Returns the current metrics. */
  render(): Promise<Exposition>;
}

/** The exposition text and its content type. */
export interface Exposition {
  text: string;
  contentType: string;
}

type PauseReason = keyof (typeof LABELS)["intake_paused"]["values"];

/** Values that are read at each request for the metrics. */
interface MetricNeeds {
  readWatched(): Promise<Watched>;
  /** Whether the target of a route is available. */
  isAvailable(route: string): boolean;
  /** The number of deliveries that wait for a commit. */
  intake: { readonly waiting: number };
  /** How many deliveries may wait. */
  queueLimit: number;
  /** The size of the database's write-ahead log. */
  logBytes(): number;
  admission: {
    /** Which reasons pause deliveries now. */
    readonly paused: Readonly<Record<PauseReason, boolean>>;
    /** The free space on the disk of the database. Infinity if it has no limit, null if it is unknown. */
    readonly freeBytes: number | null;
    /** Below this free space deliveries are refused. Null if it is unknown. */
    readonly minFreeBytes: number | null;
  };
  /** The parts of `/readyz`, each with why it is not ready, or null if it is. */
  readiness(): Promise<{ name: string; error: string | null }[]>;
  /** Why the last commit of deliveries failed; null if it did not. */
  appendError(): string | null;
  now(): number;
}

/** What is read of the stores, and of the certificate. Null is unknown. Times are Unix milliseconds. */
interface Watched {
  backlog:
    | (Backlog & {
        /** When the oldest event was received that a server could process now. */
        oldestRunning: number | null | "unknown";
      })
    | null;
  /** The routes that have jobs. */
  routes: Pick<RouteRecord, "route" | "queued" | "failed">[] | null;
  /** The configured sources. */
  sources:
    | { name: string; expectEveryMs: number | null; lastReceivedAt: number | null; oldSecret: string | null }[]
    | null;
  /** The times of the last day in which deliveries of sources were missed that their providers may not repeat. */
  missed: { source: string; from: number; to: number }[] | null;
  /** The subscriptions that end. */
  subscriptions: { source: string; isAtRisk: boolean }[] | null;
  /** The apps, with how many ends of sessions they are to be told, and could not be told within the last day. */
  logouts: { client: string; waiting: number; failed: number }[] | null;
  /** Null without a certificate. */
  certificateEndsAt: number | null | "unknown";
  /** The logins of the last day from networks that were new, the newest first. */
  newLogins: { at: number }[] | null;
  tokens: { name: string; expiresAt: number | null }[] | null;
}

// A commit waits for one fsync: 0.1 ms on a fast disk, seconds on a stalling one.
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
// A handler takes from a millisecond up to HANDLER_TIMEOUT.
const ATTEMPT_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
// An event takes milliseconds, or hours if it is retried.
const PROCESSING_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096];

// The error codes of the webhook.
const REFUSAL_CODES = [
  "bad_request",
  "request_timeout",
  "unsupported_media_type",
  "address_not_allowed",
  "payload_too_large",
  "signature_mismatch",
  "invalid_payload",
  "too_many_deliveries",
  "intake_paused",
  "queue_full",
  "store_unavailable",
  "internal_error",
] as const satisfies ErrorCode[];
const LOGIN_CODES = [
  "invalid_credentials",
  "second_factor_required",
  "invalid_code",
  "invalid_passkey",
  "too_many_attempts",
  "login_busy",
  "store_unavailable",
  "internal_error",
] as const satisfies ErrorCode[];

/** The error codes of deliveries, which are counted. */
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** The label of a counter or gauge: its values with their meaning, and the error codes that are values too. */
interface LabelDescription {
  label: string;
  values?: Record<string, string>;
  codes?: readonly ErrorCode[];
}

/** The counters and gauges whose label has known values. */
export const LABELS = {
  deliveries_total: {
    label: "result",
    values: {
      new: "The event was stored.",
      duplicate: "The event was stored before.",
      conflict: "An event with this id but different bytes was stored before.",
      repeat: "An event with these bytes but another id was stored before.",
    },
  },
  deliveries_refused_total: { label: "code", codes: REFUSAL_CODES },
  deliveries_not_genuine_total: {
    label: "reason",
    values: {
      no_signature: "No signature header is present.",
      malformed_signature: "The signature header does not have the form of a signature.",
      signature_mismatch: "The signature does not match the body and the secret.",
      secret_retired: "The secret is retired, because it had not matched for `retire` of the source.",
      timestamp_missing: "The signed timestamp is missing or malformed.",
      timestamp_too_old: "The signed timestamp is too old: more than 5 minutes, unless the source says otherwise.",
      timestamp_in_future:
        "The signed timestamp is too far ahead: more than 5 minutes, unless the source says otherwise.",
      address_not_allowed: "The sender is not in the allowed addresses.",
    },
  },
  intake_paused: {
    label: "reason",
    values: {
      disk_low: "Less disk space than `MIN_FREE_DISK` is free.",
      queue_old: "The oldest queued event is older than `MAX_QUEUE_AGE`.",
    },
  },
  attempts_total: {
    label: "outcome",
    values: {
      processed: "The event is processed.",
      retried: "The event is queued again.",
      dead_lettered: "The event is in the dead letters.",
      lease_lost: "Another worker has the event.",
    },
  },
  logins_total: {
    label: "outcome",
    values: { succeeded: "The user logged in." },
    codes: LOGIN_CODES,
  },
  device_proofs_total: {
    label: "outcome",
    values: {
      registered: "A key was registered for a session.",
      proved: "The key of a session signed a challenge.",
      refused: "The answer was not that of the key, or not current.",
      ended: "The session has ended.",
    },
  },
  connections_refused_total: {
    label: "limit",
    values: { all: "`MAX_CONNECTIONS` was reached.", address: "`MAX_CONNECTIONS_PER_ADDRESS` was reached." },
  },
} as const satisfies Record<string, LabelDescription>;

/** All values of a label. */
function labelValues({ values = {}, codes = [] }: LabelDescription): string[] {
  return [...Object.keys(values), ...codes];
}

/** Creates the metrics. */
export function createMetrics() {
  const { registry, counter, namesCounter, labelledCounter, gauge, unsetGauge, labelledGauge, labelGauge, histogram } =
    openRegistry();
  const routeGauge = (name: string, help: string) => labelGauge(name, help, "route");
  const waiting = gauge("intake_waiting_deliveries", "Deliveries that wait for their commit to begin.");
  const queueLimit = gauge("intake_queue_limit", "Deliveries that may wait (WEBHOOK_QUEUE_LIMIT). More get 503.");
  const paused = labelledGauge("intake_paused", "1 while deliveries get 503 for this reason, else 0.");
  const ready = labelGauge("part_ready", "1 while a part of `/readyz` is ready, else 0.", "part");
  const failedWrite = gauge("store_write_failed", "1 while the last commit of deliveries has failed, else 0.");
  const freeDisk = gauge(
    "disk_free_bytes",
    "Free space on the disk of DATA_DIR. +Inf if the disk has no limit, NaN while the free space is unknown.",
  );
  const minFreeDisk = gauge("disk_min_free_bytes", "Below this free space deliveries are refused (MIN_FREE_DISK).");
  const sourceGauge = (name: string, help: string) => labelGauge(name, help, "source");
  const lastReceived = sourceGauge(
    "source_last_received_timestamp_seconds",
    "Unix time of the last delivery of a source. Absent before the first.",
  );
  const expectedEvery = sourceGauge("source_expected_every_seconds", "`expectEvery` of a source that has it.");
  const oldSecretInUse = sourceGauge(
    "source_old_secret_in_use",
    "1 while the sender of a source signs with an old secret only, else 0.",
  );
  const newLogin = unsetGauge(
    "new_login_network_timestamp_seconds",
    "Unix time of the last login within a day from a network that nobody had logged in from for 30 days. Absent without one.",
  );
  const missedFor = sourceGauge(
    "source_missed_seconds",
    "The longest time of the last day in which deliveries of a source were missed that its provider may not repeat. Absent after a catch-up.",
  );
  const subscriptionAtRisk = sourceGauge(
    "source_subscription_at_risk",
    "1 while the subscription of a source ends soon or its renewal fails, else 0. Absent without one.",
  );
  const certificateEnd = unsetGauge(
    "certificate_not_after_timestamp_seconds",
    "Unix time when the TLS certificate ends. Absent without one.",
  );
  const tokenEnd = labelGauge(
    "token_not_after_timestamp_seconds",
    "Unix time when the token of a program expires. Absent for one that never does.",
    "token",
  );
  const logoutsWaiting = labelGauge(
    "client_logouts_waiting",
    "Ended sessions that an app is still to be told of.",
    "client",
  );
  const logoutsFailed = labelGauge(
    "client_logouts_failed",
    "Sessions whose end an app could not be told within the last day.",
    "client",
  );
  const queued = gauge("events_queued", "Events that wait for processing or a retry.");
  const dead = gauge("events_dead_lettered", "Events in the dead letters.");
  const unrouted = gauge("events_unrouted", "Events that no route has taken.");
  const discarded = gauge("events_discarded", "Events that are not processed because they were discarded.");
  const processed = gauge("events_processed", "Processed events that are stored. Retention removes old ones.");
  const ids = gauge("event_ids", "Known event ids, also those of removed events. They detect duplicates.");
  const databaseBytes = gauge("database_bytes", "Size of the database, without space that is free for new events.");
  const routeQueued = routeGauge("route_jobs_queued", "Jobs of a route that wait for processing or a retry.");
  const routeDead = routeGauge("route_jobs_dead_lettered", "Jobs of a route in the dead letters.");
  const routeAvailable = routeGauge("route_target_available", "1, or 0 while the target of a route is unavailable.");
  const unreadable = gauge(
    "events_unreadable",
    "Dead letters whose event cannot be read because the database is damaged.",
  );
  const logBytes = gauge(
    "database_log_bytes",
    "Size of the write-ahead log of the database: up to 16 MiB, more only while a program reads the database for a long time.",
  );
  const oldest = gauge(
    "events_oldest_queued_seconds",
    "Age of the oldest queued event since its receipt, also after a replay. 0 when none is queued.",
  );
  const oldestRunning = gauge(
    "events_oldest_running_seconds",
    "The age of the oldest queued event, without those that wait for paused routes only. NaN while many of those are looked through.",
  );

  const configReloadSuccessful = gauge(
    "config_last_reload_successful",
    "1 if the configuration file in use is the newest, 0 if a newer one has errors.",
  );
  configReloadSuccessful.set(1);

  function exposition(needs: MetricNeeds): MetricsText {
    queueLimit.set(needs.queueLimit);
    return {
      // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a list of gauges, each with what it is if unknown
      async render() {
        const [watched, parts] = await Promise.all([needs.readWatched(), needs.readiness()]);
        const { backlog, routes, sources, tokens, logouts, newLogins, missed, subscriptions, certificateEndsAt } =
          watched;
        for (const { name: part, error } of parts) ready.set({ part }, error === null ? 1 : 0);
        failedWrite.set(needs.appendError() === null ? 0 : 1);
        waiting.set(needs.intake.waiting);
        for (const [reason, isPaused] of Object.entries(needs.admission.paused))
          paused.set({ reason }, isPaused ? 1 : 0);
        freeDisk.set(needs.admission.freeBytes ?? Number.NaN);
        minFreeDisk.set(needs.admission.minFreeBytes ?? Number.NaN);
        for (const one of [lastReceived, expectedEvery, oldSecretInUse]) one.reset();
        for (const { name: source, expectEveryMs, lastReceivedAt, oldSecret } of sources ?? []) {
          if (lastReceivedAt !== null) lastReceived.set({ source }, lastReceivedAt / 1000);
          if (expectEveryMs !== null) expectedEvery.set({ source }, expectEveryMs / 1000);
          oldSecretInUse.set({ source }, oldSecret === null ? 0 : 1);
        }
        tokenEnd.reset();
        for (const { name: token, expiresAt } of tokens ?? [])
          if (expiresAt !== null) tokenEnd.set({ token }, expiresAt / 1000);
        for (const one of [logoutsWaiting, logoutsFailed]) one.reset();
        for (const { client, waiting, failed } of logouts ?? []) {
          logoutsWaiting.set({ client }, waiting);
          logoutsFailed.set({ client }, failed);
        }
        newLogin.remove();
        const [newest] = newLogins ?? [];
        if (newest !== undefined) newLogin.set(newest.at / 1000);
        for (const one of [missedFor, subscriptionAtRisk]) one.reset();
        for (const { source, seconds } of longestMissed(missed ?? [])) missedFor.set({ source }, seconds);
        for (const { source, isAtRisk } of subscriptions ?? []) subscriptionAtRisk.set({ source }, isAtRisk ? 1 : 0);
        if (typeof certificateEndsAt === "number") certificateEnd.set(certificateEndsAt / 1000);
        queued.set(backlog?.queued ?? Number.NaN);
        dead.set(backlog?.failed ?? Number.NaN);
        unreadable.set(backlog?.unreadable ?? Number.NaN);
        unrouted.set(backlog?.unrouted ?? Number.NaN);
        discarded.set(backlog?.discarded ?? Number.NaN);
        processed.set(backlog?.processed ?? Number.NaN);
        ids.set(backlog?.ids ?? Number.NaN);
        databaseBytes.set(backlog?.bytes ?? Number.NaN);
        for (const { route, queued, failed } of routes ?? []) {
          routeQueued.set({ route }, queued);
          routeDead.set({ route }, failed);
          routeAvailable.set({ route }, needs.isAvailable(route) ? 1 : 0);
        }
        logBytes.set(needs.logBytes());
        const running = backlog === null ? "unknown" : backlog.oldestRunning;
        oldestRunning.set(running === "unknown" ? Number.NaN : ageOf(running, needs.now()));
        oldest.set(backlog ? ageOf(backlog.oldestQueuedAt, needs.now()) : Number.NaN);
        return { text: await registry.metrics(), contentType: registry.contentType };
      },
    };
  }

  return {
    deliveries: labelledCounter("deliveries_total", "Genuine deliveries."),
    refusals: labelledCounter("deliveries_refused_total", "Deliveries answered with an error."),
    refusalReasons: labelledCounter(
      "deliveries_not_genuine_total",
      "Deliveries answered with 403, by reason. The reason is not sent to the sender.",
    ),
    batchEvents: histogram("intake_batch_events", "Events stored in one commit.", BATCH_BUCKETS),
    commitSeconds: histogram("intake_commit_seconds", "Time until a batch of events was on disk.", COMMIT_BUCKETS),
    attempts: labelledCounter(
      "attempts_total",
      "Attempts to process an event. An attempt that was killed with the server is counted when its event is attempted again.",
    ),
    attemptSeconds: histogram(
      "attempt_seconds",
      "Duration of attempts, except those killed with the server.",
      ATTEMPT_BUCKETS,
    ),
    processingSeconds: histogram(
      "processing_seconds",
      "Time from the receipt of an event until it was processed, retries included. Replayed events are left out.",
      PROCESSING_BUCKETS,
    ),
    logins: labelledCounter("logins_total", "Well-formed login requests."),
    deviceProofs: labelledCounter("device_proofs_total", "Answers of browsers that bind sessions to devices."),
    accessDecisions: namesCounter(
      "access_decisions_total",
      "Requests that proxies asked about: `allowed`, `denied`, or `login` without a session. `entry` is the number of the entry of `access` that decided, or `none`.",
      ["entry", "decision"],
    ),
    shadowComparisons: namesCounter(
      "shadow_comparisons_total",
      "Answers of the shadow `route` that were compared with those of its route: `same`, `different`, `failed` without an answer, or `skipped`.",
      ["route", "outcome"],
    ),
    passwordHashes: counter("password_hashes_total", "Password hashes computed."),
    refusedConnections: labelledCounter("connections_refused_total", "Connections closed at once because of a limit."),
    configReloadSuccessful,
    purgedEvents: counter("purged_events_total", "Events that retention has removed."),
    purgedIds: counter("purged_ids_total", "Event ids that retention has removed."),
    lastPurge: gauge("last_purge_timestamp_seconds", "Unix time when the last purge ended. 0 before the first."),
    /** The text of these metrics and of values that are read for each text. */
    exposition,
  };
}

/** The server's metrics. No label contains personal data. */
export type Metrics = ReturnType<typeof createMetrics>;

/** The age of what arrived at a time, in seconds; 0 if there is none. */
function ageOf(at: number | null, now: number): number {
  return at === null ? 0 : Math.max(0, now - at) / 1000;
}

function openRegistry() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // They are gauges, and only counters may be named so. Those without `_total` have the same by type.
  for (const kind of ["handles", "requests", "resources"]) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  const registers = [registry];
  const named = (name: string, help: string) => ({ name: `authserve_${name}`, help, registers });
  return {
    registry,
    counter: (name: string, help: string) => new Counter(named(name, help)),
    /** A counter with labels whose values are not known before. */
    namesCounter: <const Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Counter({ ...named(name, help), labelNames }),
    /** A counter with a label. Each value starts at 0: Prometheus sees no increase when a new series starts at 1. */
    labelledCounter: <Name extends keyof typeof LABELS>(name: Name, help: string) => {
      const described = LABELS[name];
      const labelNames: (typeof LABELS)[Name]["label"][] = [described.label];
      const counter = new Counter({ ...named(name, help), labelNames });
      for (const value of labelValues(described)) counter.labels(value).inc(0);
      return counter;
    },
    gauge: (name: string, help: string) => new Gauge(named(name, help)),
    /** A gauge with a label whose values are known. */
    labelledGauge: (name: "intake_paused", help: string) =>
      new Gauge({ ...named(name, help), labelNames: [LABELS[name].label] }),
    /** A gauge with a label whose values are names in the configuration. */
    labelGauge: <const Label extends string>(name: string, help: string, label: Label) =>
      new Gauge({ ...named(name, help), labelNames: [label] }),
    /** A gauge that is absent until it is set. */
    unsetGauge(name: string, help: string) {
      const gauge = new Gauge(named(name, help));
      gauge.remove();
      return gauge;
    },
    histogram: (name: string, help: string, buckets: number[]) => new Histogram({ ...named(name, help), buckets }),
  };
}

/** The longest missed time of each source. */
function longestMissed(missed: readonly { source: string; from: number; to: number }[]) {
  const bySource = Map.groupBy(missed, ({ source }) => source);
  return [...bySource].map(([source, times]) => ({
    source,
    seconds: Math.max(...times.map(({ from, to }) => (to - from) / 1000)),
  }));
}
