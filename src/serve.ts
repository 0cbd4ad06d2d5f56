import { randomUUID } from "node:crypto";
import { openServerAuth } from "./auth/open.ts";
import { DEFAULT_TTL_SECONDS } from "./config/fields.ts";
import { namesRedis, REDIS_PLACES, readSettings, type Settings } from "./config/settings.ts";
import { countExpired, countSettled } from "./counting.ts";
import { describeError, OperatorError } from "./errors.ts";
import type { EventStore } from "./events/store.ts";
import type { Log, LogOutput } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { REDIS_SETTING_NAMES } from "./redis/open.ts";
import { isLoopback, urlOf } from "./serving/endpoint.ts";
import { openLogin } from "./serving/login.ts";
import { openServing } from "./serving/open.ts";
import { createSignals } from "./serving/signals.ts";
import type { HttpServing } from "./serving/threads.ts";
import { lockDataDir } from "./sqlite/data-dir.ts";
import { describeBrokenLog } from "./sqlite/database.ts";
import { clearBrokenRestore } from "./sqlite/restore.ts";
import { openStorage } from "./storage/open.ts";
import { isBrokenWhsec } from "./webhook/verify.ts";
import { within } from "./within.ts";
import { createHttpHandler } from "./worker/handlers/http.ts";
import { createLogHandler } from "./worker/handlers/log.ts";
import { createWorker, type Worker, type WorkerOptions } from "./worker/worker.ts";

/** A server that is listening. */
export interface RunningServer {
  url: string;
  /** Resolves when the server cannot go on as it should: stop it, and let it be started again. */
  failed: Promise<void>;
  /** Drains and closes everything, in order, within `SHUTDOWN_TIMEOUT`. Throws {@link OperatorError} after a failure. */
  stop(): Promise<void>;
}

// After the deadline requests and handlers are cut off, which takes a moment; a disk that stalls would take for ever.
const STOP_GRACE_MS = 3000;

// Senders that wait go before events that do. Measured when a commit begins: 5 deliveries without an answer at 5,000 a
// second (12 at the 90th percentile), 47 with 64 connections that send as fast as they are answered. At 16 a slow machine
// took the second for the first, and fell behind.
const MANY_UNANSWERED = 32;

const DEFAULT_DELAY_MS = { exponential: 1000, linear: 30_000 };

type Close = () => void | Promise<void>;

/**
 * Opens the stores, wires the parts and serves; `output` is where the log writes. Throws {@link OperatorError} when it
 * cannot, with nothing left open.
 */
export async function serve(settings: Settings, log: Log, output: LogOutput): Promise<RunningServer> {
  const opened: Close[] = [];
  const closeOpened = async () => {
    for (const close of opened.reverse()) await close();
  };
  try {
    return await wire(settings, log, output, opened, closeOpened);
  } catch (error) {
    await closeOpened();
    throw error;
  }
}

async function wire(
  settings: Settings,
  log: Log,
  output: LogOutput,
  opened: Close[],
  closeOpened: () => Promise<void>,
): Promise<RunningServer> {
  warnOf(settings, log);
  opened.push(lockDataDir(settings.DATA_DIR));
  clearBrokenRestore(settings.DATA_DIR);
  const storage = await openStorage({
    dataDir: settings.DATA_DIR,
    onThreadDeath: (error) =>
      log.error(
        { event: "storage_thread_died", error: describeError(error) },
        "the storage thread died and is started again",
      ),
    onBrokenLog: (broken) => log.warn({ event: "database_log_damaged", ...broken }, describeBrokenLog(broken)),
  });
  opened.push(() => storage.close());
  const { events } = storage;
  // Another machine may have a file of the same numbers: then a start gives back what that one holds at this moment.
  const auth = await openServerAuth(settings, storage, log, `${storage.file.dev}-${storage.file.ino}`);
  opened.push(auth.close);
  // A session of the time before Redis would be alive again when sessions come back to the file.
  if (namesRedis(settings)) await storage.sessions.remove(settings.DEMO_USER_ID).catch(() => {});
  // What a new password ends is ended now; a Redis that is down keeps nobody from starting.
  void auth.sessions.check(settings.DEMO_USER_ID).catch(() => {});

  // The lock on the data directory says that no other server lives: leases in the file are a dead one's. On a full disk
  // they run out by themselves.
  await events.releaseAll(Date.now()).catch((error) => {
    log.error(
      { event: "worker_error", error: describeError(error) },
      "leases of an earlier process could not be ended",
    );
  });

  const metrics = createMetrics({ backlog: () => events.backlog(), now: Date.now });
  const signals = createSignals(settings.HTTP_THREADS);
  const worker = openWorker(settings, events, {
    mustYield: () => signals.unanswered() > MANY_UNANSWERED,
    onLook: signals.noteLook,
    onSettled: countSettled(metrics),
    onExpired: countExpired(metrics),
    log,
  });
  const opening: Promise<HttpServing> = openServing({
    settings,
    log,
    output,
    storage,
    sessions: auth.sessions,
    shared: {
      login: await openLogin(settings, auth, metrics, log),
      // The first of several threads may be asked before the last one listens.
      renderMetrics: async () => metrics.render(await (await opening).snapshots()),
      onStored: () => worker.nudge(),
    },
    signals,
  });
  const { port, failed, stop } = await opening;
  const url = urlOf(settings, port);
  log.info({ event: "server_started", url, pid: process.pid }, `listening on ${url}`);
  worker.start();

  return {
    url,
    failed,
    async stop() {
      log.info({ event: "server_stopping" }, "stopping");
      // The clock may be set meanwhile.
      const deadline = performance.now() + settings.SHUTDOWN_TIMEOUT;
      // Requests first, so that what they accept is committed; then the worker, which settles; then what both stand on.
      const drained = stop(settings.SHUTDOWN_TIMEOUT)
        .finally(() => worker.stop(Math.max(0, deadline - performance.now())))
        .finally(closeOpened);
      await within(settings.SHUTDOWN_TIMEOUT + STOP_GRACE_MS, drained, notDrained);
      log.info({ event: "server_stopped" }, "stopped");
    },
  };
}

function openWorker(
  settings: Settings,
  store: EventStore,
  parts: Pick<WorkerOptions, "mustYield" | "onLook" | "onSettled" | "onExpired" | "log">,
): Worker {
  const { log } = parts;
  return createWorker({
    ...parts,
    store,
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
  });
}

function notDrained(): OperatorError {
  return new OperatorError("Not everything ended within SHUTDOWN_TIMEOUT: what was acknowledged is on disk", 1);
}

/** Says what is legal but probably not meant. */
function warnOf(settings: Settings, log: Log): void {
  const warn = (message: string) => log.warn({ event: "setting_warning" }, message);
  if (settings.JWT_TTL.fellBack) {
    warn(`JWT_TTL is not a whole number and one of s, m, h, d: ${DEFAULT_TTL_SECONDS} seconds are used`);
  }
  if (settings.WEBHOOK_SECRET === undefined) warn("WEBHOOK_SECRET is not set: there is no webhook route");
  else if (settings.WEBHOOK_SECRET.length < 16) warn("WEBHOOK_SECRET is shorter than 16 characters: use a random one");
  if (/^\s|\s$/.test(settings.WEBHOOK_SECRET ?? "")) {
    warn("WEBHOOK_SECRET begins or ends with white space, which is part of it: every signature depends on it");
  }
  if (isBrokenWhsec(settings.WEBHOOK_SECRET ?? "")) {
    warn(
      "WEBHOOK_SECRET begins with whsec_ and is not base64 behind it: deliveries with webhook-signature will be 403",
    );
  }
  const defaults = readSettings({}, REDIS_SETTING_NAMES);
  const ofRedis = REDIS_SETTING_NAMES.filter((name) => settings[name] !== defaults[name]);
  if (ofRedis.length > 0 && !namesRedis(settings)) {
    warn(
      `Nothing says where Redis is, which leaves ${ofRedis.join(", ")} without effect: set one of ${REDIS_PLACES.join(", ")}; sessions are in DATA_DIR`,
    );
  }
  const isPrivate = settings.HOST === undefined || isLoopback(settings.HOST);
  if (settings.TLS_CERT_FILE === undefined && !isPrivate && settings.TRUSTED_PROXIES === undefined) {
    warn(
      "HOST is open to the network without TLS: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXIES for a proxy that does TLS",
    );
  }
}
