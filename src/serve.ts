import { resolve } from "node:path";
import { watchConfigFile } from "./config/file/reload.ts";
import { settingWarnings } from "./config/warnings.ts";
import { OperatorError } from "./errors.ts";
import { watchArrivals } from "./events/arrival-watch.ts";
import { createInstanceFile, pidNamespace } from "./http/instance.ts";
import { pageUrlOf, publicUrlOf } from "./http/listen.ts";
import { timeout } from "./lib/timeout.ts";
import type { Log } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { openAlerts } from "./serve/alerts.ts";
import { auditConfiguration } from "./serve/audit.ts";
import { openCaptures } from "./serve/captures.ts";
import { openCatchUps } from "./serve/catch-up.ts";
import { openClients } from "./serve/clients.ts";
import { openClock } from "./serve/clock.ts";
import type { Configuration, Wiring } from "./serve/configuration.ts";
import { openAdmission, openDeliveries } from "./serve/deliveries.ts";
import { openAddresses, openKeySets } from "./serve/documents.ts";
import { openEndpoints } from "./serve/endpoints.ts";
import { openListener } from "./serve/listener.ts";
import { openLogin } from "./serve/login.ts";
import { openOutages } from "./serve/outages.ts";
import { createParts, type Part, type Parts } from "./serve/parts.ts";
import { createPeopleOf, openPeople } from "./serve/people.ts";
import { openReadiness } from "./serve/readiness.ts";
import { openSharing } from "./serve/sharing.ts";
import { openSubscriptions } from "./serve/subscriptions.ts";
import { createWatched } from "./serve/watched.ts";
import { openPurger, openWorker } from "./serve/worker.ts";
import { openServerStores } from "./stores.ts";
import type { Intake } from "./webhook/intake/intake.ts";

/** A server that is listening. */
interface RunningServer {
  url: string;
  /** Reads the configuration file again, at SIGHUP. If it has errors, the configuration before it stays in use. */
  reload(): void;
  /** Drains and closes everything within `SHUTDOWN_TIMEOUT`. Throws {@link OperatorError} if that takes longer. */
  stop(): Promise<void>;
}

// Added to the deadline: cutting off requests and handlers takes a moment. Waiting for a stalled disk would never end.
const STOP_GRACE_MS = 3000;

/** Opens the stores, connects the parts and serves. Throws {@link OperatorError} on failure, with nothing left open. */
export async function serve(configuration: Configuration, log: Log, parts = createParts()): Promise<RunningServer> {
  const { SHUTDOWN_TIMEOUT } = configuration.settings;

  async function stop(): Promise<void> {
    const stopped = parts.stop(performance.now() + SHUTDOWN_TIMEOUT);
    await timeout(SHUTDOWN_TIMEOUT + STOP_GRACE_MS, stopped, notDrained);
  }

  try {
    const running = await start(configuration, log, parts);
    return {
      ...running,
      async stop() {
        log.info({ event: "server_stopping" }, "stopping");
        await stop();
        log.info({ event: "server_stopped" }, "stopped");
      },
    };
  } catch (error) {
    // Why it could not start matters more.
    await stop().catch(() => {});
    throw error;
  }
}

/**
 * Starts the parts of a server. They stop in the reverse order: requests first, so that accepted deliveries are
 * committed; then the worker; then the stores that both use.
 */
async function start(configuration: Configuration, log: Log, parts: Parts): Promise<Omit<RunningServer, "stop">> {
  const { settings, environment } = configuration;
  for (const message of settingWarnings(settings)) log.warn({ event: "setting_warning" }, message);
  const config = watchConfigFile(configuration.file, configuration.readFile, log);
  const people = createPeopleOf(settings);
  const stores = await openServerStores(settings, people, log);
  await parts.start({ stop: stores.close });

  const metrics = createMetrics();
  const instance = createInstanceFile(settings.DATA_DIR, log);
  const { file } = configuration;
  const wiring: Wiring = { settings, environment, file, config, stores, people, log, metrics, instance };
  await parts.start(await openClock(wiring));
  await parts.start(openPeople(wiring));
  const logins = await openLogin(wiring);
  const addressLists = openAddresses(wiring);
  const keySets = openKeySets(wiring);
  const admission = openAdmission(wiring);
  await parts.start(addressLists, keySets, admission);

  const readiness = openReadiness(wiring, admission);
  const outages = openOutages(wiring, admission);
  const deliveries = openDeliveries(wiring, { admission, addressLists, keySets, outages });
  const { intake } = deliveries;
  const sharing = openSharing(wiring);
  const isAsking = () => sharing.isOnDuty("asking");
  const catchUps = openCatchUps(wiring, isAsking);
  const worker = openWorker(wiring, { intake, share: sharing.share });
  const { isAvailable } = worker;
  const arrivals = watchArrivals(stores.events);
  await parts.start({ stop: arrivals.stop });
  const listener = openListener(wiring);
  await parts.start(listener);
  // Nothing may wait between the two starts: a request would find no endpoints.
  const clients = openClients(wiring, {
    publicUrl: publicUrlOf(settings, listener.url()),
    isOnDuty: () => sharing.isOnDuty("logouts"),
  });
  const needs = { listener, logins, admission, deliveries, readiness, arrivals, isAvailable, catchUps, clients };
  await parts.start(openEndpoints(wiring, { ...needs, readWatched: createWatched(wiring) }));

  const url = listener.url();
  const localUrl = listener.url("127.0.0.1");
  await parts.start({ start: () => instance.update({ url: localUrl }), stop: instance.remove });
  await parts.start({ start: () => sharing.join(url), stop: sharing.leave });
  const purger = openPurger(wiring, () => sharing.isOnDuty("purge"));
  const publicUrl = publicUrlOf(settings, url) ?? "";
  const alerts = openAlerts(wiring, {
    admission,
    deliveries,
    readiness,
    // Of its own: the search for the oldest event goes on where the last one ended.
    readWatched: createWatched(wiring),
    isOnDuty: () => sharing.isOnDuty("alerts"),
    url: publicUrl,
    page: pageUrlOf(settings, publicUrl),
  });
  await parts.start(worker, purger, alerts);
  await parts.start(deliveries);
  await parts.start(clients);
  await parts.start(outages, catchUps, openSubscriptions(wiring, isAsking));
  await parts.start(auditConfiguration(wiring));
  const unwatch = config.watch((file, fault) => {
    metrics.configReloadSuccessful.set(fault === null ? 1 : 0);
    instance.update({ configFault: fault });
    if (fault === null) parts.apply(file);
  });
  await parts.start({ stop: unwatch });
  await parts.start(openCaptures(wiring, listener.server));
  await parts.start(drainOf(listener, intake));
  // Held requests of listeners would keep the drain waiting, so these end before it, too.
  await parts.start({ stop: arrivals.stop });
  if (configuration.reloadsAtHangup) instance.update({ process: { pid: process.pid, namespace: pidNamespace() } });
  log.info({ event: "server_started", url, pid: process.pid }, `listening on ${url}`);
  let count = 0;
  function reload(): void {
    config.reload();
    count += 1;
    const file = config.current && resolve(config.current.file);
    instance.update({ reload: { count, file } });
  }
  return { url, reload };
}

/** Stops first: answers the requests in flight while every other part still runs. */
function drainOf(listener: Part, intake: Pick<Intake, "flush">): Part {
  return {
    async stop(deadline) {
      await listener.stop?.(deadline);
      await intake.flush();
    },
  };
}

function notDrained(): OperatorError {
  return new OperatorError(
    "The server did not stop within SHUTDOWN_TIMEOUT. All acknowledged deliveries are on disk.",
    1,
  );
}
