import type { Server } from "node:https";
import { createApp } from "../app.ts";
import type { Login } from "../auth/login.ts";
import type { SessionStore } from "../auth/sessions/store.ts";
import type { Settings } from "../config/settings.ts";
import { appendCounted, countRefused } from "../counting.ts";
import type { EventStore } from "../events/store.ts";
import { createRefusal } from "../http/allowed-methods.ts";
import { boundUnfinishedBodies, MAX_UNFINISHED_BYTES } from "../http/body-bytes.ts";
import { closeServer } from "../http/connections.ts";
import { listen } from "../http/listen.ts";
import { createListener } from "../http/listener.ts";
import { createHttpServer } from "../http/server.ts";
import type { Log } from "../log.ts";
import { createIntakeMetrics, type Exposition, type IntakeMetrics, type MetricsSnapshot } from "../metrics.ts";
import { listRoutes } from "../routes.ts";
import { createIntake, QUEUE_BYTES } from "../webhook/intake.ts";
import { createBusy } from "./busy.ts";
import { hostOf, tlsFilesOf } from "./endpoint.ts";
import type { Signals } from "./signals.ts";

/** What there is once in the process, for all event loops. */
export interface Shared {
  login: Login;
  renderMetrics(): Promise<Exposition>;
  /** Told that something new is stored since the worker looked. */
  onStored(): void;
}

export interface HttpLoopParts {
  settings: Settings;
  log: Log;
  events: EventStore;
  sessions: SessionStore;
  shared: Shared;
  signals: Signals;
  /** Counts from 1. */
  loop: number;
}

/** Everything that one event loop serves. */
export interface HttpLoop {
  /** Returns the port. Throws `OperatorError` when the address cannot be had. */
  listen(port: number): Promise<number>;
  /** What this loop has counted. */
  snapshot(): Promise<MetricsSnapshot>;
  /** Answers what is in flight until the deadline and puts on disk what it accepted. */
  stop(deadlineMs: number): Promise<void>;
}

// Of one core's time, all event loops together. With 64 connections that send as fast as they are answered it is 0.85; with
// 2,000 deliveries a second that wait 30 ms for a slow disk 0.2.
const BUSY = 0.5;

/** Creates what one event loop serves: all routes, with an intake of its own. */
export function createHttpLoop(parts: HttpLoopParts): HttpLoop {
  const { settings, log, events, shared, signals, loop } = parts;
  const loops = settings.HTTP_THREADS;
  const queueLimit = Math.ceil(settings.WEBHOOK_QUEUE_LIMIT / loops);
  const metrics: IntakeMetrics = createIntakeMetrics({ waiting: () => intake.waiting, queueLimit });
  const isBusy = createBusy(BUSY / loops);
  const intake = createIntake({
    append: (batch) => appendCounted(events, metrics, batch),
    queueLimit,
    queueBytes: QUEUE_BYTES / loops,
    // Those that wait for a slow disk wait no longer because of what the worker does meanwhile.
    onCommit: (unanswered) => signals.noteUnanswered(loop, isBusy() ? unanswered : 0),
    onCommitted: () => {
      if (signals.noteStored()) shared.onStored();
    },
  });

  boundUnfinishedBodies(MAX_UNFINISHED_BYTES / loops);

  let stopping = false;
  const trustedProxies = settings.TRUSTED_PROXIES;
  const routes = listRoutes({ ...parts, ...shared, intake, onRefused: countRefused(metrics) });
  const refusalOf = createRefusal(routes);
  const app = createApp(routes, refusalOf, { trustedProxies, log, isStopping: () => stopping });
  const tls = tlsFilesOf(settings);
  const server = createHttpServer(createListener(app), { tls, refusalOf });
  let unwatch = () => {};

  return {
    async listen(wanted) {
      const port = await listen(server, { port: wanted, host: hostOf(settings), reusePort: loops > 1 });
      if (tls) unwatch = tls.watch(server as Server, log);
      return port;
    },
    snapshot: metrics.snapshot,
    async stop(deadlineMs) {
      stopping = true;
      await closeServer(server, deadlineMs);
      await intake.flush();
      unwatch();
    },
  };
}
