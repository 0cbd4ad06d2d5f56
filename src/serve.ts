import type { Server } from "node:https";
import { listEndpoints } from "./app.ts";
import { createAuthenticate } from "./auth/authenticate.ts";
import { createRequestGuard } from "./auth/browser/guard.ts";
import { DEFAULT_ALERTS } from "./config/file/alerts-entry.ts";
import type { ConfigFile } from "./config/file/config-file.ts";
import { watchConfigFile } from "./config/file/reload.ts";
import { sourcesOf } from "./config/sources.ts";
import { settingWarnings } from "./config/warnings.ts";
import { describeError, type ErrorCode, faultText, OperatorError } from "./errors.ts";
import { faultOfClock } from "./events/clock-fault.ts";
import { DEFAULT_RETENTION } from "./events/retention.ts";
import { closeServer } from "./http/connections.ts";
import { createInstanceFile } from "./http/instance.ts";
import { createHostCheck, knownHosts } from "./http/known-hosts.ts";
import { hostOf, listen, publicUrlOf, urlOf } from "./http/listen.ts";
import { createReadiness } from "./http/operations.ts";
import { faultOfUnnamedProxy, watchForUnnamedProxy } from "./http/proxies.ts";
import { createRouter } from "./http/router.ts";
import { createHttpServer } from "./http/server.ts";
import { countAppends, countPurged, countRefused, watchAppends } from "./instrument.ts";
import { timeout } from "./lib/timeout.ts";
import type { Log } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { openAddresses } from "./serve/addresses.ts";
import { openAdmin, openPage } from "./serve/admin.ts";
import { openAdmission } from "./serve/admission.ts";
import { openAlerts, readCertificateEnd, readWatchedSources } from "./serve/alerts.ts";
import { openBrowser } from "./serve/browser.ts";
import { createCaptures } from "./serve/captures.ts";
import type { Configuration, Wiring } from "./serve/configuration.ts";
import { openKeySets } from "./serve/key-sets.ts";
import { connectionLimitsOf, tlsFilesOf } from "./serve/listener.ts";
import { openLogin } from "./serve/login.ts";
import { openSharing } from "./serve/sharing.ts";
import { openWorker } from "./serve/worker.ts";
import { openServerStores } from "./stores.ts";
import { createHolding } from "./webhook/held/holding.ts";
import { createIntake } from "./webhook/intake/intake.ts";
import { createOwnRefusals } from "./webhook/intake/own-refusals.ts";
import { countedReason, createSourceCounter } from "./webhook/intake/source-counter.ts";
import { keepReceivedSecret } from "./webhook/secrets/received-secrets.ts";
import { createRetirement } from "./webhook/secrets/retirement.ts";
import type { Source } from "./webhook/source.ts";
import { createPurger } from "./worker/purger.ts";

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

/** Opens the stores, connects the parts and serves. Throws {@link OperatorError} on failure, with nothing left open. */
export async function serve(configuration: Configuration, log: Log): Promise<RunningServer> {
  const { settings, environment } = configuration;
  for (const message of settingWarnings(settings)) log.warn({ event: "setting_warning" }, message);
  const config = watchConfigFile(configuration.file, configuration.readFile, log);
  const stores = await openServerStores(settings, log);
  const clockFault = faultOfClock(stores.now(), stores.newestEventAt);
  if (clockFault) log.warn({ event: "clock_warning" }, `the clock may be wrong: ${faultText(clockFault)}`);
  try {
    return await wire({ settings, environment, config, stores, log });
  } catch (error) {
    await stores.close();
    throw error;
  }
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
    minFreeDiskBytes: () => admission.minFreeBytes,
    sources: () => readWatchedSources(wiring),
    readiness: () => readiness(),
    hasFailedWrite: () => appends.error() !== null,
    certificateEndsAt: () => readCertificateEnd(settings),
    now: stores.now,
  });
  const appends = watchAppends(countAppends(events, metrics));
  const intake = createIntake({
    append: appends.append,
    pausedBy: admission.pausedBy,
    queueLimit: settings.WEBHOOK_QUEUE_LIMIT,
  });
  const instanceFile = createInstanceFile(settings.DATA_DIR, log);
  const sharing = openSharing(stores, instanceFile.id, log);
  const { worker, applyRoutes } = openWorker(wiring, { intake, metrics, share: sharing.share });
  const purger = createPurger(retentionOf(config.current), {
    store: events,
    log,
    isOnDuty: sharing.isPurging,
    onPurged: countPurged(metrics),
    now: stores.now,
  });
  const trustedProxies = settings.TRUSTED_PROXIES;
  const user = { id: settings.DEMO_USER_ID, email: settings.DEMO_EMAIL };
  const secrets = [settings.JWT_SECRET, settings.JWT_SECRET_PREVIOUS].filter((secret) => secret !== undefined);

  const counter = createSourceCounter(stores.sources, {
    onError: (error) =>
      log.warn({ event: "source_counts_error", error: describeError(error) }, "the counts of sources were not stored"),
    now: stores.now,
  });
  const countRefusal = countRefused(metrics);
  const ownRefusals = createOwnRefusals();
  const holding = createHolding({
    store: stores.held,
    write: intake.write,
    sources: () => sourcesOf(settings, config.current),
    log,
    now: stores.now,
  });
  const retirement = createRetirement({
    store: stores.sources,
    sources: () => sourcesOf(settings, config.current),
    log,
    now: stores.now,
  });
  const addresses = openAddresses(wiring);
  const { events: tryEvents, sessions: trySessions, ...otherChecks } = stores.checks;
  const readiness = createReadiness({
    async events() {
      await tryEvents?.();
      await events.check();
    },
    async sessions() {
      await trySessions?.();
      await sessions.check(user.id);
    },
    intake: admission.requireOpen,
    ...otherChecks,
  });
  const keySets = openKeySets(wiring);
  const hostRules = {
    listeningHost: hostOf(settings),
    publicUrl: settings.PUBLIC_URL,
    allowedHosts: settings.ALLOWED_HOSTS,
    trustedProxies,
  };
  const parts = {
    log,
    login: await openLogin(settings, stores, metrics, log),
    sessions,
    corsOrigins: settings.CORS_ALLOWED_ORIGINS,
    deliveries: {
      intake,
      log,
      trustedProxies,
      now: stores.now,
      addressLists: addresses,
      keySets,
      hold: holding.hold,
      keepSecret: (source: Source, { value, address }: { value: string; address: string }) =>
        intake.write(value.length, () =>
          keepReceivedSecret(stores.sources, source, { value, address, receivedAt: stores.now() }),
        ),
      acceptsSecret: retirement.accepts,
      onReceived: counter.received,
      onRefused(source: string, code: ErrorCode, reason?: string) {
        countRefusal(code, reason);
        ownRefusals.add(code);
        counter.refused(source, countedReason(code, reason));
      },
    },
    readiness,
    instance: instanceFile.id,
    metrics,
    metricsAllowedAddresses: settings.METRICS_ALLOWED_ADDRESSES,
    trustedProxies,
    checkHost: createHostCheck(hostRules),
  };
  const authenticate = createAuthenticate(user, sessions, secrets, stores.now);
  const stopping = new AbortController();
  const { listener, refusal, replaceEndpoints } = createRouter([], {
    trustedProxies,
    watchForUnnamedProxy: watchForUnnamedProxy(trustedProxies, (address) => {
      log.warn({ event: "proxy_not_trusted", address }, faultText(faultOfUnnamedProxy(address)));
      instanceFile.update({ unnamedProxy: address });
    }),
    log,
    stopping: stopping.signal,
  });
  await admission.check();
  await Promise.all([addresses.tried(), keySets.tried()]);
  const tls = tlsFilesOf(settings);
  const server = createHttpServer(listener, { tls, refusal, connectionLimits: connectionLimitsOf(settings, metrics) });
  const port = await listen(server, { port: settings.PORT, host: hostOf(settings) });
  const captures = createCaptures({
    dataDir: settings.DATA_DIR,
    server,
    sources: () => sourcesOf(settings, config.current),
    trustedProxies,
    log,
    now: stores.now,
  });
  const unwatchTls = tls?.watch(server as Server, log) ?? (() => {});
  const url = urlOf(settings, port);
  const browser = openBrowser(settings, url, {
    ...parts,
    authenticate,
    secrets,
    throttle: stores.throttle,
    isToKnownHost: knownHosts(hostRules),
    now: stores.now,
  });
  const guard = createRequestGuard(authenticate, browser, settings.CORS_ALLOWED_ORIGINS);
  const admin = openAdmin(wiring, { authenticate: guard, admission, isAvailable: worker.isAvailable });
  const page = openPage(wiring, admin, browser !== null);
  const publicUrl = publicUrlOf(settings, url) ?? "";
  const alerts = openAlerts(wiring, {
    admission,
    isAlerting: sharing.isAlerting,
    url: publicUrl,
    readiness,
    refused: ownRefusals.count,
    appendError: appends.error,
  });
  const endpointsFor = (file: ConfigFile | null) =>
    listEndpoints({ ...parts, authenticate: guard, browser, admin, page, sources: sourcesOf(settings, file) });
  // No request is read before: the listener was called in this turn of the event loop.
  replaceEndpoints(endpointsFor(config.current));
  instanceFile.update({ url: urlOf(settings, port, "127.0.0.1") });
  const unwatchConfig = config.watch((file, fault) => {
    metrics.configReloadSuccessful.set(fault === null ? 1 : 0);
    instanceFile.update({ configFault: fault });
    if (fault !== null) return;
    addresses.apply(file);
    keySets.apply(file);
    replaceEndpoints(endpointsFor(file));
    applyRoutes(file);
    purger.apply(retentionOf(file));
    alerts.apply(file?.alerts ?? DEFAULT_ALERTS);
  });
  log.info({ event: "server_started", url, pid: process.pid }, `listening on ${url}`);
  await sharing.join(url);
  admission.start();
  worker.start();
  purger.start();
  alerts.start();
  holding.start();
  addresses.start();
  retirement.start();
  captures.start();

  /** Stops requests first, so that accepted deliveries are committed; then the worker; then the stores that both use. */
  async function drain(): Promise<void> {
    // Not Date.now(): the clock may be changed meanwhile.
    const deadline = performance.now() + settings.SHUTDOWN_TIMEOUT;
    stopping.abort();
    await closeServer(server, settings.SHUTDOWN_TIMEOUT);
    await captures.stop();
    admission.stop();
    unwatchTls();
    unwatchConfig();
    const [purgerStopped, alertsStopped] = [purger.stop(), alerts.stop()];
    await intake.flush();
    await holding.stop();
    await addresses.stop();
    await keySets.stop();
    await retirement.stop();
    await counter.flush();
    await worker.stop(Math.max(0, deadline - performance.now()));
    await purgerStopped;
    await alertsStopped;
    await sharing.leave();
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

function notDrained(): OperatorError {
  return new OperatorError(
    "The server did not stop within SHUTDOWN_TIMEOUT. All acknowledged deliveries are on disk.",
    1,
  );
}

const retentionOf = (file: ConfigFile | null) => file?.retention ?? DEFAULT_RETENTION;
