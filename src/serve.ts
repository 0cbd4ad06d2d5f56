import { randomUUID } from "node:crypto";
import type { Server } from "node:https";
import { availableParallelism } from "node:os";
import { listRoutes } from "./app.ts";
import { createAuthenticate } from "./auth/authenticate.ts";
import { createSessionCookie } from "./auth/browser/cookie.ts";
import { createRequestGuard } from "./auth/browser/guard.ts";
import type { BrowserParts } from "./auth/browser/routes.ts";
import type { VerifyParts } from "./auth/browser/verify.ts";
import { canonicalEmail } from "./auth/email.ts";
import { createLogin, type Login } from "./auth/login.ts";
import { createPasswordVerifier } from "./auth/password.ts";
import { createThrottle } from "./auth/throttle/rules.ts";
import type { ConfigFile } from "./config/file/config-file.ts";
import { type WatchedConfigFile, watchConfigFile } from "./config/file/reload.ts";
import { handlerEnvironment } from "./config/handler-environment.ts";
import { routesOf } from "./config/routes.ts";
import type { Environment, Settings } from "./config/settings.ts";
import { sourcesOf } from "./config/sources.ts";
import { settingWarnings } from "./config/warnings.ts";
import { describeError, type ErrorCode, faultText, OperatorError } from "./errors.ts";
import { DEFAULT_RETENTION } from "./events/retention.ts";
import { isTrusted } from "./http/client-address.ts";
import type { ConnectionLimits } from "./http/connection-limits.ts";
import { closeServer } from "./http/connections.ts";
import { createInstanceFile } from "./http/instance.ts";
import { hostOf, isLoopback, listen, publicOriginOf, urlOf } from "./http/listen.ts";
import { createRouter } from "./http/router.ts";
import { createHttpServer } from "./http/server.ts";
import { createTlsFiles } from "./http/tls.ts";
import { faultOfUnnamedProxy, watchForUnnamedProxy } from "./http/unnamed-proxy.ts";
import {
  countAppends,
  countExpired,
  countHashes,
  countLogins,
  countPurged,
  countRefused,
  countSettled,
} from "./instrument.ts";
import { createConcurrencyLimit } from "./lib/concurrency-limit.ts";
import { readDiskSpace } from "./lib/files.ts";
import { timeout } from "./lib/timeout.ts";
import type { Log } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { startThread } from "./platform/checkout.ts";
import { openServerStores, type ServerStores, type Stores } from "./stores.ts";
import { type Admission, createAdmission } from "./webhook/admission.ts";
import { createIntake, type Intake } from "./webhook/intake.ts";
import { createSourceCounter } from "./webhook/source-counter.ts";
import { createHandler } from "./worker/handlers/create.ts";
import { createPurger } from "./worker/purger.ts";
import type { Route } from "./worker/route.ts";
import { createWorker } from "./worker/worker.ts";
import { createMustYield } from "./worker/yield.ts";

/** A server that is listening. */
export interface RunningServer {
  url: string;
  /** Reads the configuration file again. If it has errors, the configuration before it stays in use. */
  reload(): void;
  /** Drains and closes everything within `SHUTDOWN_TIMEOUT`. Throws {@link OperatorError} if that takes longer. */
  stop(): Promise<void>;
}

// Added to the deadline: cutting off requests and handlers takes a moment. Waiting for a stalled disk would never end.
const STOP_GRACE_MS = 3000;

/** What a server is started with. `readFile` reads the configuration file; null if there is none. */
export interface Configuration {
  settings: Settings;
  environment: Environment;
  file: string;
  readFile(): ConfigFile | null;
}

/** Opens the stores, connects the parts and serves. Throws {@link OperatorError} on failure, with nothing left open. */
export async function serve(configuration: Configuration, log: Log): Promise<RunningServer> {
  const { settings, environment } = configuration;
  for (const message of settingWarnings(settings)) log.warn({ event: "setting_warning" }, message);
  const config = watchConfigFile(configuration.file, configuration.readFile, log);
  const stores = await openServerStores(settings, log);
  try {
    return await wire({ settings, environment, config, stores, log });
  } catch (error) {
    await stores.close();
    throw error;
  }
}

/** What the parts are connected with. */
interface Wiring extends Pick<Configuration, "settings" | "environment"> {
  config: WatchedConfigFile;
  stores: ServerStores;
  log: Log;
}

async function wire(wiring: Wiring): Promise<RunningServer> {
  const { settings, config, stores, log } = wiring;
  const { events, sessions } = stores;
  const admission = openAdmission(settings, stores, log);
  const metrics: Metrics = createMetrics({
    backlog: () => events.backlog(),
    routes: () => events.routes(),
    isAvailable: (route) => worker.isAvailable(route),
    waiting: () => intake.waiting,
    queueLimit: settings.WEBHOOK_QUEUE_LIMIT,
    logBytes: stores.logBytes,
    paused: () => admission.paused,
    freeDiskBytes: () => admission.freeBytes,
    now: Date.now,
  });
  const intake = createIntake({
    append: countAppends(events, metrics),
    pausedBy: admission.pausedBy,
    queueLimit: settings.WEBHOOK_QUEUE_LIMIT,
  });
  const { worker, applyRoutes } = openWorker(wiring, intake, metrics);
  const purger = createPurger(retentionOf(config.current), {
    store: events,
    log,
    onPurged: countPurged(metrics),
    now: stores.now,
  });
  const trustedProxies = settings.TRUSTED_PROXIES;
  const user = { id: settings.DEMO_USER_ID, email: settings.DEMO_EMAIL };
  const secrets = [settings.JWT_SECRET, settings.JWT_SECRET_PREVIOUS].filter((secret) => secret !== undefined);

  const instanceFile = createInstanceFile(settings.DATA_DIR, log);
  const counter = createSourceCounter(stores.sources, {
    onError: (error) =>
      log.warn({ event: "source_counts_error", error: describeError(error) }, "the counts of sources were not stored"),
  });
  const countRefusal = countRefused(metrics);
  const parts = {
    log,
    login: await openLogin(settings, stores, metrics, log),
    sessions,
    corsOrigins: settings.CORS_ALLOWED_ORIGINS,
    deliveries: {
      intake,
      log,
      trustedProxies,
      onReceived: counter.received,
      onRefused(source: string, code: ErrorCode, reason?: string) {
        countRefusal(code, reason);
        counter.refused(source);
      },
    },
    ready: {
      events: () => events.check(),
      sessions: () => sessions.check(user.id),
      intake: admission.requireOpen,
    },
    instance: instanceFile.id,
    metrics,
    metricsAllowedAddresses: settings.METRICS_ALLOWED_ADDRESSES,
    trustedProxies,
  };
  const authenticate = createAuthenticate(user, sessions, secrets);
  const stopping = new AbortController();
  const { listener, refusal, replaceRoutes } = createRouter([], {
    trustedProxies,
    watchForUnnamedProxy: watchForUnnamedProxy(trustedProxies, (address) => {
      log.warn({ event: "proxy_not_trusted", address }, faultText(faultOfUnnamedProxy(address)));
      instanceFile.update({ unnamedProxy: address });
    }),
    log,
    stopping: stopping.signal,
  });
  await admission.check();
  const tls = tlsFilesOf(settings);
  const server = createHttpServer(listener, { tls, refusal, connectionLimits: connectionLimitsOf(settings, metrics) });
  const port = await listen(server, { port: settings.PORT, host: hostOf(settings) });
  const unwatchTls = tls?.watch(server as Server, log) ?? (() => {});
  const url = urlOf(settings, port);
  const browser = openBrowser(settings, url, { ...parts, authenticate, secret: settings.JWT_SECRET });
  const guard = createRequestGuard(authenticate, browser?.cookie ?? null, settings.CORS_ALLOWED_ORIGINS);
  const routesFor = (file: ConfigFile | null) =>
    listRoutes({ ...parts, authenticate: guard, browser, sources: sourcesOf(settings, file) });
  // No request is read before: the listener was called in this turn of the event loop.
  replaceRoutes(routesFor(config.current));
  instanceFile.update({ url: urlOf(settings, port, "127.0.0.1") });
  const unwatchConfig = config.watch((file, fault) => {
    metrics.configReloadSuccessful.set(fault === null ? 1 : 0);
    instanceFile.update({ configFault: fault });
    if (fault !== null) return;
    replaceRoutes(routesFor(file));
    applyRoutes(file);
    purger.apply(retentionOf(file));
  });
  log.info({ event: "server_started", url, pid: process.pid }, `listening on ${url}`);
  admission.start();
  worker.start();
  purger.start();

  /** Stops requests first, so that accepted deliveries are committed; then the worker; then the stores that both use. */
  async function drain(): Promise<void> {
    // Not Date.now(): the clock may be changed meanwhile.
    const deadline = performance.now() + settings.SHUTDOWN_TIMEOUT;
    stopping.abort();
    await closeServer(server, settings.SHUTDOWN_TIMEOUT);
    admission.stop();
    unwatchTls();
    unwatchConfig();
    const purgerStopped = purger.stop();
    await intake.flush();
    await counter.flush();
    await worker.stop(Math.max(0, deadline - performance.now()));
    await purgerStopped;
    instanceFile.remove();
    await stores.close();
  }

  return {
    url,
    reload: config.reload,
    async stop() {
      log.info({ event: "server_stopping" }, "stopping");
      await timeout(settings.SHUTDOWN_TIMEOUT + STOP_GRACE_MS, drain(), notDrained);
      log.info({ event: "server_stopped" }, "stopped");
    },
  };
}

function connectionLimitsOf(settings: Settings, metrics: Metrics): ConnectionLimits {
  return {
    all: settings.MAX_CONNECTIONS,
    perAddress: settings.MAX_CONNECTIONS_PER_ADDRESS,
    isExempt: (address) => isLoopback(address) || isTrusted(address, settings.TRUSTED_PROXIES),
    onRefused: (limit) => metrics.refusedConnections.inc({ limit }),
  };
}

function notDrained(): OperatorError {
  return new OperatorError(
    "The server did not stop within SHUTDOWN_TIMEOUT. All acknowledged deliveries are on disk.",
    1,
  );
}

// A client would not wait for more password checks than these.
const LOGIN_QUEUE_LIMIT = 256;
// A share for each network, so that one network cannot fill the queue.
const LOGIN_QUEUE_LIMIT_PER_NETWORK = LOGIN_QUEUE_LIMIT / 2;

async function openLogin(settings: Settings, stores: Stores, metrics: Metrics, log: Log): Promise<Login> {
  // One core is left for deliveries and token checks, because anybody can send logins.
  const width = Math.max(availableParallelism() - 1, 1);
  const hashes = createConcurrencyLimit({ width, queueLimit: width });
  const verifyPassword = countHashes(await createPasswordVerifier(settings.DEMO_PASSWORD), metrics);
  const login = createLogin({
    user: { id: settings.DEMO_USER_ID, email: settings.DEMO_EMAIL },
    verifyPassword: (password, userIsKnown) => hashes.run(() => verifyPassword(password, userIsKnown)),
    // Twice as many attempts as hashes: while half of them compute hashes, the others use the throttle store.
    attempts: createConcurrencyLimit({
      width: 2 * width,
      queueLimit: LOGIN_QUEUE_LIMIT,
      queueLimitPerSender: LOGIN_QUEUE_LIMIT_PER_NETWORK,
    }),
    throttle: createThrottle(stores.throttle, canonicalEmail(settings.DEMO_EMAIL)),
    sessions: stores.sessions,
    secret: settings.JWT_SECRET,
    ttlSeconds: settings.JWT_TTL.seconds,
    log,
    now: Date.now,
  });
  return countLogins(login, metrics);
}

const UNLIMITED = { freeBytes: Number.POSITIVE_INFINITY, sizeBytes: Number.POSITIVE_INFINITY };

function openAdmission(settings: Settings, { events }: ServerStores, log: Log): Admission {
  return createAdmission({
    minFreeBytes: settings.MIN_FREE_DISK,
    maxQueueAgeMs: settings.MAX_QUEUE_AGE,
    // The disk of a PostgreSQL server is not seen from here.
    readSpace: async () => (settings.DATABASE_URL === undefined ? readDiskSpace(settings.DATA_DIR) : UNLIMITED),
    readBacklog: () => events.backlog(),
    log,
    now: Date.now,
  });
}

/** Creates the worker. `applyRoutes` gives it the routes of another configuration file. */
function openWorker({ settings, environment, config, stores, log }: Wiring, intake: Intake, metrics: Metrics) {
  const { events } = stores;
  const handlersOf = (file: ConfigFile | null) => (route: Route) =>
    createHandler(route, {
      log,
      startThread: (options) => startThread("module", options),
      environment: handlerEnvironment(environment, file),
    });
  const worker = createWorker({
    store: events,
    pollIntervalMs: settings.WORKER_POLL_INTERVAL,
    owner: randomUUID(),
    mustYield: createMustYield(intake),
    onSettled: countSettled(metrics),
    onExpired: countExpired(metrics),
    log,
    now: stores.now,
  });
  const applyRoutes = (file: ConfigFile | null) => worker.applyRoutes(routesOf(settings, file), handlersOf(file));
  applyRoutes(config.current);
  events.onWork(worker.notify);
  return { worker, applyRoutes };
}

/** The pages, the cookie and forward-auth. Null without `PUBLIC_URL`, unless the server listens on loopback only. */
function openBrowser(
  settings: Settings,
  url: string,
  parts: Pick<BrowserParts, "login" | "authenticate" | "sessions" | "secret" | "log">,
): (BrowserParts & VerifyParts) | null {
  const { COOKIE_DOMAIN: cookieDomain, REDIRECT_ORIGINS: allowedOrigins } = settings;
  const origin = publicOriginOf(settings, url);
  if (origin === null) return null;
  return {
    ...parts,
    cookie: createSessionCookie(origin, cookieDomain),
    rules: { origin, allowedOrigins, cookieDomain },
    lifetimes: { ttlSeconds: settings.JWT_TTL.seconds, sessionMaxAgeSeconds: settings.SESSION_MAX_AGE / 1000 },
    origin,
    trustedProxies: settings.TRUSTED_PROXIES,
    now: Date.now,
  };
}

const retentionOf = (file: ConfigFile | null) => file?.retention ?? DEFAULT_RETENTION;

/** The certificate and key that are served; undefined without TLS. */
function tlsFilesOf({ TLS_CERT_FILE, TLS_KEY_FILE }: Settings) {
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) return undefined;
  return createTlsFiles(TLS_CERT_FILE, TLS_KEY_FILE);
}
