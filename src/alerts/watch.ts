import { type Repetition, repeat } from "../lib/repeat.ts";
import { orUnknown } from "../lib/timeout.ts";
import type { Log } from "../log.ts";
import { changesOf } from "./changes.ts";
import type { AlertDelivery } from "./delivery.ts";
import type { Notifier } from "./notifiers.ts";
import { type AlertRules, type Facts, findingsOf } from "./rules.ts";
import { type Samples, withSample } from "./samples.ts";
import type { AlertStore } from "./store.ts";
import { withOutcomes } from "./tellings.ts";

/** What the watch is configured with. */
export interface AlertConfig {
  rules: AlertRules;
  notifiers: readonly Notifier[];
}

interface WatchOptions {
  store: Pick<AlertStore, "read" | "save">;
  /** Measures, with the attempts since a time (Unix milliseconds). */
  readFacts: (attemptsSince: number) => Promise<Facts>;
  delivery: AlertDelivery;
  log: Log;
  /** Whether this server may alert now: of several on one database, one does. */
  isOnDuty: () => Promise<boolean>;
  now: () => number;
}

const EVERY_MS = 5000;

/** Creates a watch, which compares what is measured with the rules every 5 seconds. */
export function createAlertWatch(config: AlertConfig, options: WatchOptions) {
  const { store, readFacts, delivery, log, isOnDuty, now } = options;
  const orUnknownDuty = orUnknown(isOnDuty);
  let wasOnDuty = true;
  let current = config;
  let samples: Samples = [];
  let checking: Repetition | undefined;

  /** Whether this server alerts. While that cannot be found out, as last time. */
  async function readDuty(): Promise<boolean> {
    wasOnDuty = (await orUnknownDuty()) ?? wasOnDuty;
    return wasOnDuty;
  }

  async function check(): Promise<void> {
    if (!(await readDuty())) {
      samples = [];
      return;
    }
    const { rules, notifiers } = current;
    const windowMs = Math.max(rules.failureRate?.overMs ?? 0, rules.queue?.growingForMs ?? 0);
    const facts = await readFacts(now() - (rules.failureRate?.overMs ?? 0));
    if (facts.backlog && facts.attempts) {
      const sample = { at: facts.now, queued: facts.backlog.queued, attempts: facts.attempts };
      samples = withSample(samples, sample, windowMs);
    }
    const { alerts, silences } = await store.read();
    const changes = changesOf(alerts, {
      findings: findingsOf(facts, rules, samples),
      silences,
      notifiers: notifiers.map(({ name }) => name),
      outcomes: delivery.takeOutcomes(),
      now: facts.now,
    });
    if (changes.changed.length + changes.removed.length > 0) await store.save(changes);
    for (const { name, labels, summary, resolvedAt } of changes.message?.alerts ?? []) {
      const line = { alert: name, labels };
      const untold =
        notifiers.length === 0 ? "; nobody is told, because the configuration file has no alerts.notify" : "";
      if (resolvedAt === null)
        log.warn({ event: "alert_firing", ...line, notifiers: notifiers.length }, `${summary}${untold}`);
      else log.info({ event: "alert_resolved", ...line }, `resolved; it was: ${summary}`);
    }
    await delivery.run(notifiers);
  }

  /** Saves what the last messages came to, which no check will. */
  async function saveOutcomes(): Promise<void> {
    const outcomes = delivery.takeOutcomes();
    if (outcomes.length === 0) return;
    const { alerts } = await store.read();
    const changed = alerts.flatMap((alert) => {
      const after = withOutcomes(alert, outcomes);
      return after === alert ? [] : [after];
    });
    await store.save({ changed, removed: [], message: null, notifiers: [] });
  }

  return {
    start(): void {
      checking = repeat(check, {
        firstMs: 0,
        everyMs: EVERY_MS,
        onError: (error) => log.warn({ event: "alert_check_error", error }, "alerts could not be checked; retrying"),
      });
    },
    apply(next: AlertConfig): void {
      current = next;
    },
    async stop(): Promise<void> {
      await checking?.stop();
      await delivery.stop();
      await saveOutcomes();
    },
  };
}
