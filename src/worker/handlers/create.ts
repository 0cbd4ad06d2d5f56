import type { Worker, WorkerOptions } from "node:worker_threads";
import type { Log } from "../../log.ts";
import type { Handler } from "../handler.ts";
import type { Route } from "../route.ts";
import type { ShadowRoute } from "../shadow/shadows.ts";
import { type TransformTools, transformed, withTransform } from "../transform/handler.ts";
import { createExecHandler } from "./exec.ts";
import { createHttpHandler, type SignAsSender } from "./http.ts";
import { createModuleHandler } from "./module.ts";

/** What handlers are created with. */
interface HandlerTools {
  log: Log;
  /** Starts a thread with the entry `handlers/module-thread.ts`. */
  startThread: (options: WorkerOptions) => Worker;
  /** The environment of programs and modules. */
  environment: Record<string, string | undefined>;
  transform: TransformTools;
  signAsSender: SignAsSender;
}

/** Creates the handler of a route. */
export function createHandler(route: Pick<Route, "name" | "handler" | "transform">, tools: HandlerTools): Handler {
  const handler = handlerOf(route, tools);
  return route.transform === null ? handler : withTransform(handler, route.transform, tools.transform);
}

/** Creates the handler of a shadow. It stores nothing. */
export function createShadowHandler(
  shadow: ShadowRoute,
  { transform: tools, signAsSender }: Pick<HandlerTools, "transform" | "signAsSender">,
): Handler {
  const handler = createHttpHandler(shadow.handler, signAsSender);
  if (shadow.transform === null && !shadow.ofTransform) return handler;
  return {
    ...handler,
    async prepare(job, signal) {
      const body =
        shadow.transform === null
          ? await tools.store.sentBody({ event: job.event, route: shadow.of })
          : await transformed(job, shadow.transform, tools, signal);
      if (body === null) throw new Error("what the route has sent is no longer stored");
      return { ...job, ...body };
    },
  };
}

function handlerOf(route: Pick<Route, "name" | "handler">, tools: HandlerTools): Handler {
  const { handler } = route;
  switch (handler.kind) {
    case "http":
      return createHttpHandler(handler, tools.signAsSender);
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
