import { pathToFileURL } from "node:url";
import { workerData } from "node:worker_threads";
import { describeError } from "../../errors.ts";
import { decodeBeginning, MAX_RESPONSE_BYTES } from "../../lib/beginning.ts";
import { isJson, trimSpace } from "../../lib/header-value.ts";
import { isOutOfDescriptors } from "../handler.ts";
import {
  type FromModule,
  MODULE_LOG_LEVELS,
  type ModuleEvent,
  type ModuleThreadData,
  type ToModule,
} from "./module-messages.ts";

const MAX_MESSAGE_LENGTH = 1024;
const MAX_FIELDS_LENGTH = 8 * 1024;

/** Runs in the thread of a module: loads it, and calls its function for one event at a time. */
function run(): void {
  const { file, port } = workerData as ModuleThreadData;
  // The module sees `workerData`, too. What it sent over this port by mistake would end the server.
  delete (workerData as Partial<ModuleThreadData>).port;
  const send = (message: FromModule) => port.postMessage(message);
  let abort = new AbortController();

  async function call(event: ModuleEvent, idempotencyKey: string): Promise<void> {
    abort = new AbortController();
    let handle: ModuleFunction;
    try {
      handle = await load(file);
    } catch (error) {
      const { cause } = error as Error;
      return send({ loadError: describeError(error), isOutOfDescriptors: isOutOfDescriptors(cause) });
    }
    try {
      const log = logFor(event, send);
      send({ response: textOf(await handle(toArgument(event), { signal: abort.signal, idempotencyKey, log })) });
    } catch (error) {
      send({ error: describeError(error) || "a value without a description was thrown" });
    }
  }

  port.on("message", (message: ToModule) => {
    if (message === "abort") abort.abort(new Error("the attempt was ended"));
    else void call(message.event, message.idempotencyKey);
  });
}

type ModuleFunction = (event: object, tools: object) => unknown;

async function load(file: string): Promise<ModuleFunction> {
  let module: { default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new Error(`${file} cannot be loaded`, { cause: error });
  }
  if (typeof module.default === "function") return module.default as ModuleFunction;
  throw new Error(`${file} has no default export that is a function`);
}

function toArgument({ body, receivedAt, ...event }: ModuleEvent) {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  return { ...event, body: bytes, json: parse(event.contentType, bytes), receivedAt: new Date(receivedAt) };
}

function parse(contentType: string, body: Buffer): unknown {
  if (!isJson(trimSpace(contentType.replace(/;.*$/s, "")).toLowerCase())) return undefined;
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** The beginning of a returned text. */
function textOf(result: unknown): string | undefined {
  return typeof result === "string" ? decodeBeginning(Buffer.from(result.slice(0, MAX_RESPONSE_BYTES))) : undefined;
}

function logFor({ source, id: eventId }: ModuleEvent, send: (message: FromModule) => void): object {
  return Object.fromEntries(
    MODULE_LOG_LEVELS.map((log) => [
      log,
      (message: unknown, fields?: unknown) =>
        send({
          log,
          message: String(message).slice(0, MAX_MESSAGE_LENGTH),
          fields: textOfFields(fields),
          source,
          eventId,
        }),
    ]),
  );
}

/** The fields of a log line as JSON; undefined if there are none, or too many. */
function textOfFields(fields: unknown): string | undefined {
  if (typeof fields !== "object" || fields === null) return undefined;
  try {
    const text = JSON.stringify(fields);
    return text.length <= MAX_FIELDS_LENGTH ? text : undefined;
  } catch {
    return undefined;
  }
}

run();
