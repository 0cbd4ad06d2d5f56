import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** What the service counts. Every metric that is registered here is exported, and none has a label with a person in it. */
export interface Metrics {
  deliveries: Counter<"result">;
  batchEvents: Histogram;
  commitSeconds: Histogram;
  attempts: Counter<"outcome">;
  logins: Counter<"outcome">;
  passwordHashes: Counter;
  /** The exposition text and its content type. */
  render(): Promise<{ text: string; contentType: string }>;
}

/** What is read when somebody asks for the metrics. */
export interface MetricSources {
  waitingDeliveries(): number;
  queueLimit: number;
  backlog(): Promise<{ queued: number; failed: number; oldestQueuedAt: number | null }>;
  now(): number;
}

// A commit waits for one fsync: from a fast disk's 0.1 ms to a stalling one's seconds.
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096];

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter<Label>({ name: `authserve_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name: `authserve_${name}`, help, registers });

  const queued = gauge("events_queued", "Stored events that wait for processing or a retry");
  const dead = gauge("events_dead_lettered", "Events in the dead letters");
  const oldest = gauge("events_oldest_queued_seconds", "Age of the oldest queued event");
  const waiting = gauge("intake_waiting_deliveries", "Deliveries that wait for a commit to begin");
  gauge("intake_queue_limit", "Deliveries that may wait; more get 503").set(sources.queueLimit);

  return {
    deliveries: counter("deliveries_total", "Genuine deliveries by what became of them", ["result"]),
    batchEvents: new Histogram({
      name: "authserve_intake_batch_events",
      help: "Events that shared a commit",
      buckets: BATCH_BUCKETS,
      registers,
    }),
    commitSeconds: new Histogram({
      name: "authserve_intake_commit_seconds",
      help: "Time from handing a batch to the store until it is on disk",
      buckets: COMMIT_BUCKETS,
      registers,
    }),
    attempts: counter("attempts_total", "Attempts at processing by where they left the event", ["outcome"]),
    logins: counter("logins_total", "Login requests by answer", ["outcome"]),
    passwordHashes: counter("password_hashes_total", "Password hashes computed"),
    async render() {
      const backlog = await sources.backlog();
      queued.set(backlog.queued);
      dead.set(backlog.failed);
      oldest.set(backlog.oldestQueuedAt === null ? 0 : (sources.now() - backlog.oldestQueuedAt) / 1000);
      waiting.set(sources.waitingDeliveries());
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}
