import { randomUUID } from "node:crypto";
import type { Server } from "node:https";
import { availableParallelism } from "node:os";
import { createApp } from "./app.ts";
import { createAuthenticate } from "./auth/authenticate.ts";
import { createLane } from "./auth/lane.ts";
import { createLogin } from "./auth/login.ts";
import { boundSessions, openAuthStores } from "./auth/open.ts";
import { createPasswordVerifier } from "./auth/password.ts";
import { loginRoute, logoutRoute, meRoute } from "./auth/routes.ts";
import { createThrottle } from "./auth/throttle.ts";
import { DEFAULT_TTL_SECONDS } from "./config/fields.ts";
import type { Settings } from "./config/settings.ts";
import { appendCounted, countingLogins, countingSettles } from "./counting.ts";
import { describeError, OperatorError } from "./errors.ts";
import type { Route } from "./http/exchange.ts";
import { healthRoute, readyRoute } from "./http/health.ts";
import { createListener } from "./http/listener.ts";
import { metricsRoute } from "./http/metrics-route.ts";
import { closeServer, createHttpServer, listen } from "./http/server.ts";
import { createTlsFiles } from "./http/tls.ts";
import type { Log } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { openRedis } from "./redis/open.ts";
import { lockDataDir } from "./sqlite/database.ts";
import { openStorage } from "./storage/open.ts";
import { createIntake } from "./webhook/intake.ts";
import { DEFAULT_SCHEMES } from "./webhook/presets.ts";
import { webhookRoute } from "./webhook/routes.ts";
import { createVerifier } from "./webhook/verify.ts";
import { createHttpHandler } from "./worker/handlers/http.ts";
import { createLogHandler } from "./worker/handlers/log.ts";
import { createWorker } from "./worker/worker.ts";

export interface RunningServer {
  url: string;
  /** Drains and closes everything, in order, within `SHUTDOWN_TIMEOUT`. */
  stop(): Promise<void>;
}

// Waiting longer than this many hashes take would outlast a client's patience.
const LOGIN_QUEUE_LIMIT = 256;

// Senders that wait go before events that do: at 5,000 deliveries a second about 7 are without an answer.
const MANY_UNANSWERED = 24;

// After the deadline requests and handlers are cut off, which takes a moment; a disk that stalls would take for ever.
const STOP_GRACE_MS = 3000;

const DEFAULT_DELAY_MS = { exponential: 1000, linear: 30_000 };

/** Opens the stores, wires the parts and serves. Throws {@link OperatorError} when it cannot, with nothing left open. */
export async function serve(settings: Settings, log: Log): Promise<RunningServer> {
  const opened: (() => void | Promise<void>)[] = [];
  const closeOpened = async () => {
    for (const close of opened.reverse()) await close();
  };
  try {
    return await wire(settings, log, opened, closeOpened);
  } catch (error) {
    await closeOpened();
    throw error;
  }
}

async function wire(
  settings: Settings,
  log: Log,
  opened: (() => void | Promise<void>)[],
  closeOpened: () => Promise<void>,
): Promise<RunningServer> {
  warnOf(settings, log);
  opened.push(lockDataDir(settings.DATA_DIR));
  const storage = await openStorage({
    dataDir: settings.DATA_DIR,
    onThreadDeath: (error) =>
      log.error(
        { event: "storage_thread_died", error: describeError(error) },
        "the storage thread died and is started again",
      ),
  });
  opened.push(() => storage.close());
  const { events } = storage;
  const redis = await openRedis(settings, log);
  if (redis) opened.push(() => redis.close());
  const hash = settings.DEMO_PASSWORD;
  const user = { id: settings.DEMO_USER_ID, email: settings.DEMO_EMAIL };
  const stores = await openAuthStores(redis, storage);
  const sessions = boundSessions(stores.sessions, user.id, hash, log);
  // A Redis that is down now keeps nobody from starting: sessions wait for it, webhooks do not.
  await sessions.check().catch(() => {});

  // The lock on the data directory says that no other server lives: leases in the file are a dead one's.
  await events.releaseAll(Date.now());

  const authenticate = createAuthenticate(
    user,
    sessions,
    [settings.JWT_SECRET, settings.JWT_SECRET_PREVIOUS].filter((secret) => secret !== undefined),
  );
  // As many attempts again take and give back their places in the throttle while the hashes of others run.
  const hashes = createLane(availableParallelism(), LOGIN_QUEUE_LIMIT);
  const attempts = createLane(2 * availableParallelism(), LOGIN_QUEUE_LIMIT);
  const verifyPassword = await createPasswordVerifier(hash);
  const login = createLogin({
    user,
    verifyPassword: (password, userIsKnown) =>
      hashes.run(() => {
        metrics.passwordHashes.inc();
        return verifyPassword(password, userIsKnown);
      }),
    lane: attempts,
    throttle: createThrottle(stores.throttle),
    sessions,
    secret: settings.JWT_SECRET,
    ttlSeconds: settings.JWT_TTL.seconds,
    log,
    now: Date.now,
  });

  const metrics: Metrics = createMetrics({
    waitingDeliveries: () => intake.waiting,
    queueLimit: settings.WEBHOOK_QUEUE_LIMIT,
    backlog: () => events.backlog(),
    now: Date.now,
  });
  const worker = createWorker({
    store: countingSettles(events, metrics),
    handler: settings.FORWARD_URL === undefined ? createLogHandler(log) : createHttpHandler(settings.FORWARD_URL),
    policy: {
      attempts: settings.RETRY_ATTEMPTS,
      backoff: settings.RETRY_BACKOFF,
      delayMs: settings.RETRY_DELAY ?? DEFAULT_DELAY_MS[settings.RETRY_BACKOFF],
      jitter: settings.RETRY_JITTER,
    },
    concurrency: settings.WORKER_CONCURRENCY,
    pollIntervalMs: settings.WORKER_POLL_INTERVAL,
    handlerTimeoutMs: settings.HANDLER_TIMEOUT,
    owner: randomUUID(),
    log,
    mustYield: () => intake.unanswered > MANY_UNANSWERED,
  });
  const intake = createIntake({
    append: (batch) => appendCounted(events, metrics, batch),
    queueLimit: settings.WEBHOOK_QUEUE_LIMIT,
    onCommitted: () => worker.nudge(),
  });

  const routes: Route[] = [
    { method: "POST", path: "/auth/login", handler: loginRoute(countingLogins(login, metrics)) },
    { method: "POST", path: "/auth/logout", handler: logoutRoute(authenticate, sessions, log) },
    { method: "GET", path: "/auth/me", handler: meRoute(authenticate), quiet: true },
    { method: "GET", path: "/healthz", handler: healthRoute, quiet: true },
    {
      method: "GET",
      path: "/metrics",
      handler: metricsRoute(metrics, settings.METRICS_ALLOWED_ADDRESSES),
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

  let stopping = false;
  const app = createApp(routes, { trustedProxies: settings.TRUSTED_PROXIES, log, isStopping: () => stopping });
  const tls =
    settings.TLS_CERT_FILE !== undefined && settings.TLS_KEY_FILE !== undefined
      ? createTlsFiles(settings.TLS_CERT_FILE, settings.TLS_KEY_FILE)
      : undefined;
  const server = createHttpServer(createListener(app), tls);
  const host = settings.HOST ?? (tls ? undefined : "127.0.0.1");
  const port = await listen(server, settings.PORT, host);
  if (tls) opened.push(tls.watch(server as Server, log));
  const url = `${tls ? "https" : "http"}://${displayHost(host)}:${port}`;
  log.info({ event: "server_started", url, pid: process.pid }, `listening on ${url}`);
  worker.start();

  return {
    url,
    async stop() {
      stopping = true;
      log.info({ event: "server_stopping" }, "stopping");
      const deadline = Date.now() + settings.SHUTDOWN_TIMEOUT;
      // Requests first, so that what they accept is committed; then the worker, which settles; then what both stand on.
      const drained = closeServer(server, settings.SHUTDOWN_TIMEOUT)
        .then(() => intake.flush())
        .then(() => worker.stop(Math.max(0, deadline - Date.now())))
        .then(closeOpened);
      await within(settings.SHUTDOWN_TIMEOUT + STOP_GRACE_MS, drained);
      log.info({ event: "server_stopped" }, "stopped");
    },
  };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new OperatorError(
      "Not everything ended within SHUTDOWN_TIMEOUT: what was acknowledged is on disk",
      1,
    );
    timer = setTimeout(() => reject(error), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Says what is legal but probably not meant. */
function warnOf(settings: Settings, log: Log): void {
  const warn = (message: string) => log.warn({ event: "setting_warning" }, message);
  if (settings.JWT_TTL.fellBack) {
    warn(`JWT_TTL is not a whole number and one of s, m, h, d: ${DEFAULT_TTL_SECONDS} seconds are used`);
  }
  if (settings.WEBHOOK_SECRET === undefined) warn("WEBHOOK_SECRET is not set: there is no webhook route");
  else if (settings.WEBHOOK_SECRET.length < 16) warn("WEBHOOK_SECRET is shorter than 16 characters: use a random one");
  const isLoopback = settings.HOST === undefined || /^(?:127\.|::1$|localhost$)/.test(settings.HOST);
  if (settings.TLS_CERT_FILE === undefined && !isLoopback && settings.TRUSTED_PROXIES === undefined) {
    warn(
      "HOST is open to the network without TLS: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXIES for a proxy that does TLS",
    );
  }
}

function displayHost(host: string | undefined): string {
  if (host === undefined || host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
