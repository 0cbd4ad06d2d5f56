import type { Worker, WorkerOptions } from "node:worker_threads";
import type { Log } from "../../log.ts";
import type { Handler } from "../handler.ts";
import type { Route } from "../route.ts";
import { type TransformTools, withTransform } from "../transform/handler.ts";
import { createExecHandler } from "./exec.ts";
import { createHttpHandler } from "./http.ts";
import { createModuleHandler } from "./module.ts";

/** What handlers are created with. */
interface HandlerTools {
  log: Log;
  /** Starts a thread with the entry `handlers/module-thread.ts`. */
  startThread: (options: WorkerOptions) => Worker;
  /** The environment of programs and modules. */
  environment: Record<string, string | undefined>;
  transform: TransformTools;
}

/** Creates the handler of a route. */
export function createHandler(route: Pick<Route, "name" | "handler" | "transform">, tools: HandlerTools): Handler {
  const handler = handlerOf(route, tools);
  return route.transform === null ? handler : withTransform(handler, route.transform, tools.transform);
}

function handlerOf(route: Pick<Route, "name" | "handler">, tools: HandlerTools): Handler {
  const { handler } = route;
  switch (handler.kind) {
    case "http":
      return createHttpHandler(handler);
    case "exec":
      return createExecHandler(handler, tools.environment);
    case "module":
      return createModuleHandler({ file: handler.file, route: route.name }, tools);
    case "log":
      return createLogHandler(tools.log);
  }
}

/** Logs the id and type of each event. */
function createLogHandler(log: Log): Handler {
  return {
    async run({ source, eventId, type, route }) {
      log.info({ event: "event_received", source, eventId, type, route }, "event received");
    },
    target: null,
    endsWithSignal: false,
    close: async () => {},
  };
}
