import type { Server } from "node:https";
import { createApp } from "../app.ts";
import { createAuthenticate } from "../auth/authenticate.ts";
import type { Login } from "../auth/login.ts";
import { loginRoute, logoutRoute, meRoute } from "../auth/routes.ts";
import type { SessionStore } from "../auth/sessions/store.ts";
import type { Settings } from "../config/settings.ts";
import { appendCounted } from "../counting.ts";
import type { EventStore } from "../events/store.ts";
import { closeServer } from "../http/connections.ts";
import type { Route } from "../http/exchange.ts";
import { healthRoute, readyRoute } from "../http/health.ts";
import { listen } from "../http/listen.ts";
import { createListener } from "../http/listener.ts";
import { metricsRoute } from "../http/metrics-route.ts";
import { createHttpServer } from "../http/server.ts";
import type { Log } from "../log.ts";
import { createIntakeMetrics, type Exposition, type IntakeMetrics, type MetricsSnapshot } from "../metrics.ts";
import { createIntake, type Intake, QUEUE_BYTES } from "../webhook/intake.ts";
import { DEFAULT_SCHEMES } from "../webhook/presets.ts";
import { webhookRoute } from "../webhook/routes.ts";
import { createVerifier } from "../webhook/verify.ts";
import { hostOf, tlsFilesOf } from "./endpoint.ts";

/** What there is once in the process, for all event loops. */
export interface Shared {
  login: Login;
  renderMetrics(): Promise<Exposition>;
  /** Told after each commit that stored something new. */
  onCommitted(): void;
}

export interface HttpLoopParts {
  settings: Settings;
  log: Log;
  events: EventStore;
  sessions: SessionStore;
  shared: Shared;
}

/** Everything that one event loop serves. */
export interface HttpLoop {
  /** Returns the port. Throws `OperatorError` when the address cannot be had. */
  listen(port: number): Promise<number>;
  /** What this loop has counted. */
  snapshot(): Promise<MetricsSnapshot>;
  /** Deliveries that wait for their answer. */
  unanswered(): number;
  /** Answers what is in flight until the deadline and puts on disk what it accepted. */
  stop(deadlineMs: number): Promise<void>;
}

/** Creates what one event loop serves: all routes, with an intake of its own. */
export function createHttpLoop(parts: HttpLoopParts): HttpLoop {
  const { settings, log, events, shared } = parts;
  const loops = settings.HTTP_THREADS;
  const queueLimit = Math.ceil(settings.WEBHOOK_QUEUE_LIMIT / loops);
  const metrics: IntakeMetrics = createIntakeMetrics({ waiting: () => intake.waiting, queueLimit });
  const intake = createIntake({
    append: (batch) => appendCounted(events, metrics, batch),
    queueLimit,
    queueBytes: QUEUE_BYTES / loops,
    onCommitted: shared.onCommitted,
  });

  let stopping = false;
  const trustedProxies = settings.TRUSTED_PROXIES;
  const app = createApp(routesOf(parts, intake), { trustedProxies, log, isStopping: () => stopping });
  const tls = tlsFilesOf(settings);
  const server = createHttpServer(createListener(app), tls);
  let unwatch = () => {};

  return {
    async listen(wanted) {
      const port = await listen(server, { port: wanted, host: hostOf(settings), reusePort: loops > 1 });
      if (tls) unwatch = tls.watch(server as Server, log);
      return port;
    },
    snapshot: metrics.snapshot,
    unanswered: () => intake.unanswered,
    async stop(deadlineMs) {
      stopping = true;
      await closeServer(server, deadlineMs);
      await intake.flush();
      unwatch();
    },
  };
}

function routesOf({ settings, log, events, sessions, shared }: HttpLoopParts, intake: Intake): Route[] {
  const authenticate = createAuthenticate(
    { id: settings.DEMO_USER_ID, email: settings.DEMO_EMAIL },
    sessions,
    [settings.JWT_SECRET, settings.JWT_SECRET_PREVIOUS].filter((secret) => secret !== undefined),
  );
  const routes: Route[] = [
    { method: "POST", path: "/auth/login", handler: loginRoute(shared.login) },
    { method: "POST", path: "/auth/logout", handler: logoutRoute(authenticate, sessions, log) },
    { method: "GET", path: "/auth/me", handler: meRoute(authenticate), quiet: true },
    { method: "GET", path: "/healthz", handler: healthRoute, quiet: true },
    {
      method: "GET",
      path: "/metrics",
      handler: metricsRoute(shared.renderMetrics, {
        allowedAddresses: settings.METRICS_ALLOWED_ADDRESSES,
        knowsProxies: settings.TRUSTED_PROXIES !== undefined,
      }),
      quiet: true,
    },
    {
      method: "GET",
      path: "/readyz",
      handler: readyRoute({ events: () => events.check(), sessions: () => sessions.check() }, log),
      quiet: true,
    },
  ];
  if (settings.WEBHOOK_SECRET !== undefined) {
    const source = {
      name: "default",
      path: settings.WEBHOOK_PATH,
      verify: createVerifier(DEFAULT_SCHEMES, settings.WEBHOOK_SECRET),
      allowedAddresses: settings.WEBHOOK_ALLOWED_ADDRESSES,
      bodyLimitBytes: settings.WEBHOOK_BODY_LIMIT,
    };
    routes.push({ method: "POST", path: source.path, handler: webhookRoute(source, intake, log), quiet: true });
  }
  return routes;
}
