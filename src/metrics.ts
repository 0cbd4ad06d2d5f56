import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ErrorCode } from "./errors.ts";

/** What the server counts. None has a label with a person in it. */
export interface Metrics {
  deliveries: Counter<"result">;
  refusals: Counter<"code">;
  refusalReasons: Counter<"reason">;
  batchEvents: Histogram;
  commitSeconds: Histogram;
  attempts: Counter<"outcome">;
  attemptSeconds: Histogram;
  processingSeconds: Histogram;
  logins: Counter<"outcome">;
  passwordHashes: Counter;
  refusedConnections: Counter<"limit">;
  /** All metrics as they stand. */
  render(): Promise<Exposition>;
}

/** The exposition text and its content type. */
export interface Exposition {
  text: string;
  contentType: string;
}

/** What is read when somebody asks for the metrics. */
export interface MetricSources {
  backlog(): Promise<{ queued: number; failed: number; unreadable: number; oldestQueuedAt: number | null }>;
  /** Deliveries that wait for a commit, and how many may. */
  waiting(): number;
  queueLimit: number;
  /** The size of the database's write-ahead log. */
  logBytes(): number;
  now(): number;
}

// A commit waits for one fsync: from a fast disk's 0.1 ms to a stalling one's seconds.
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
// A handler takes from a millisecond up to HANDLER_TIMEOUT.
const ATTEMPT_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
// With retries in between an event takes from milliseconds to hours.
const PROCESSING_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096];

// What the labels of the counters say.
const DELIVERY_RESULTS = ["new", "duplicate", "conflict"];
const ATTEMPT_OUTCOMES = ["processed", "retried", "dead_lettered", "lease_lost"];
// What the webhook and the login answer when they refuse.
const REFUSAL_CODES: ErrorCode[] = [
  "bad_request",
  "request_timeout",
  "unsupported_media_type",
  "address_not_allowed",
  "payload_too_large",
  "signature_mismatch",
  "invalid_payload",
  "queue_full",
  "store_unavailable",
  "internal_error",
];
const REFUSAL_REASONS = [
  "no_signature",
  "malformed_signature",
  "signature_mismatch",
  "timestamp_missing",
  "timestamp_too_old",
  "timestamp_in_future",
  "address_not_allowed",
];
const LOGIN_CODES: ErrorCode[] = [
  "invalid_credentials",
  "too_many_attempts",
  "login_busy",
  "store_unavailable",
  "internal_error",
];

/** Creates the metrics. What stands in a source is read whenever they are rendered. */
export function createMetrics(sources: MetricSources): Metrics {
  const { registry, counter, gauge, histogram } = openRegistry();
  const waiting = gauge("intake_waiting_deliveries", "Deliveries that wait for a commit to begin");
  gauge("intake_queue_limit", "Deliveries that may wait; more get 503").set(sources.queueLimit);
  const queued = gauge("events_queued", "Stored events that wait for processing or a retry");
  const dead = gauge("events_dead_lettered", "Events in the dead letters");
  const unreadable = gauge("events_unreadable", "Dead letters whose events lie where the database is damaged");
  const logBytes = gauge("database_log_bytes", "Size of the database's write-ahead log");
  const oldest = gauge("events_oldest_queued_seconds", "Age of the oldest queued event");

  return {
    deliveries: counter("deliveries_total", "Genuine deliveries by what became of them", "result", DELIVERY_RESULTS),
    refusals: counter("deliveries_refused_total", "Deliveries that were refused, by error code", "code", REFUSAL_CODES),
    refusalReasons: counter(
      "deliveries_not_genuine_total",
      "Deliveries that were refused as not genuine, by the reason that their senders are not told",
      "reason",
      REFUSAL_REASONS,
    ),
    batchEvents: histogram("intake_batch_events", "Events that shared a commit", BATCH_BUCKETS),
    commitSeconds: histogram(
      "intake_commit_seconds",
      "Time from handing a batch to the store until it is on disk",
      COMMIT_BUCKETS,
    ),
    attempts: counter(
      "attempts_total",
      "Attempts at processing by where they left the event",
      "outcome",
      ATTEMPT_OUTCOMES,
    ),
    attemptSeconds: histogram("attempt_seconds", "Time that an attempt at processing took", ATTEMPT_BUCKETS),
    processingSeconds: histogram(
      "processing_seconds",
      "Time from the receipt of an event until it was processed; replayed ones are left out",
      PROCESSING_BUCKETS,
    ),
    logins: counter("logins_total", "Login requests by answer", "outcome", ["succeeded", ...LOGIN_CODES]),
    passwordHashes: counter("password_hashes_total", "Password hashes computed"),
    refusedConnections: counter(
      "connections_refused_total",
      "Connections that were closed at once, by the limit that was reached",
      "limit",
      ["all", "address"],
    ),
    async render() {
      const backlog = await sources.backlog();
      waiting.set(sources.waiting());
      queued.set(backlog.queued);
      dead.set(backlog.failed);
      unreadable.set(backlog.unreadable);
      logBytes.set(sources.logBytes());
      oldest.set(backlog.oldestQueuedAt === null ? 0 : Math.max(0, sources.now() - backlog.oldestQueuedAt) / 1000);
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

function openRegistry() {
  const registry = new Registry();
  const registers = [registry];
  const named = (name: string, help: string) => ({ name: `authserve_${name}`, help, registers });
  return {
    registry,
    /** A counter, or one for each value of a label. They start at 0: from nothing to 1 is no increase to Prometheus. */
    counter: <Label extends string>(name: string, help: string, label?: Label, values: readonly string[] = []) => {
      const counter = new Counter<Label>({ ...named(name, help), labelNames: label === undefined ? [] : [label] });
      for (const value of values) counter.labels(value).inc(0);
      return counter;
    },
    gauge: (name: string, help: string) => new Gauge(named(name, help)),
    histogram: (name: string, help: string, buckets: number[]) => new Histogram({ ...named(name, help), buckets }),
  };
}
