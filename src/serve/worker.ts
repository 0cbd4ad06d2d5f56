import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type ConfigFile, handlerEnvironment } from "../config/file/config-file.ts";
import { routesOf, shadowsOf } from "../config/routes.ts";
import { sourcesOf } from "../config/sources.ts";
import { takesRoutes } from "../events/captured.ts";
import { DEFAULT_RETENTION } from "../events/retention.ts";
import { countCompared, countExpired, countPurged, countSettled } from "../instrument.ts";
import { startEvaluatorProcess, startThread } from "../platform/checkout.ts";
import { jsonOf, openStored } from "../webhook/content/stored-content.ts";
import type { Intake } from "../webhook/intake/intake.ts";
import { signAsSender } from "../webhook/samples/signed-again.ts";
import { createHandler, createShadowHandler } from "../worker/handlers/create.ts";
import { createPurger } from "../worker/purger.ts";
import type { Route } from "../worker/route.ts";
import { createShadows } from "../worker/shadow/shadows.ts";
import { startProcessEvaluator } from "../worker/transform/process-evaluator.ts";
import { createTransformer } from "../worker/transform/transformer.ts";
import { createWorker, type Worker } from "../worker/worker.ts";
import { createMustYield } from "../worker/yield.ts";
import type { Wiring } from "./configuration.ts";
import { createJudgingMark } from "./judging-mark.ts";
import type { Part } from "./parts.ts";

/** What the worker is connected with besides. `share` is the part of each route's rate that this server has now. */
interface WorkerNeeds {
  intake: Intake;
  share: () => number;
}

/** Creates the worker. */
export function openWorker(
  { settings, environment, config, stores, metrics, log }: Wiring,
  { intake, share }: WorkerNeeds,
): Part & Pick<Worker, "isAvailable"> {
  const { events } = stores;
  const transformer = createTransformer(() => startProcessEvaluator(startEvaluatorProcess));
  const transform = { store: events, transformer, jsonOf };
  const shadows = createShadows({ store: events, log, now: stores.now, onCompared: countCompared(metrics) });
  const countAttempt = countSettled(metrics);
  const handlersOf = (file: ConfigFile | null) => (route: Route) => {
    const handler = createHandler(route, {
      log,
      startThread: (options) => startThread("module", options),
      environment: handlerEnvironment(environment, file),
      transform,
      signAsSender,
    });
    return shadows.watch(route.name, handler);
  };
  const worker = createWorker({
    store: events,
    openPayload: openStored,
    judgingMark: createJudgingMark(join(settings.DATA_DIR, "judging.json")),
    routesCaptured: (source) => takesRoutes(source, sourcesOf(settings, config.current)),
    pollIntervalMs: settings.WORKER_POLL_INTERVAL,
    owner: randomUUID(),
    mustYield: createMustYield(intake),
    share,
    onSettled(...settled) {
      countAttempt(...settled);
      shadows.onSettled(...settled);
    },
    onExpired: countExpired(metrics),
    log,
    now: stores.now,
  });
  const apply = (file: ConfigFile | null) => {
    shadows.apply(shadowsOf(settings, file), (shadow) => createShadowHandler(shadow, { transform, signAsSender }));
    worker.applyRoutes(routesOf(settings, file), handlersOf(file));
  };
  return {
    isAvailable: worker.isAvailable,
    apply,
    start() {
      apply(config.current);
      events.onWork(worker.notify);
      worker.start();
    },
    async stop(deadline) {
      await worker.stop(Math.max(0, deadline - performance.now()));
      await shadows.stop();
      await transformer.close();
    },
  };
}

/** Creates the removal of old events. `isOnDuty` tells whether this server alone removes them now. */
export function openPurger({ config, stores, metrics, log }: Wiring, isOnDuty: () => Promise<boolean>): Part {
  const retentionOf = (file: ConfigFile | null) => file?.retention ?? DEFAULT_RETENTION;
  const options = { store: stores.events, log, isOnDuty, onPurged: countPurged(metrics), now: stores.now };
  const purger = createPurger(retentionOf(config.current), options);
  return { ...purger, apply: (file) => purger.apply(retentionOf(file)) };
}
