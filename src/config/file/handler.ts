import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import * as v from "valibot";
import { systemCode } from "../../errors.ts";
import { defined } from "../../lib/defined.ts";
import { BODY_FORMS, type HandlerConfig, HTTP_METHODS } from "../../worker/route.ts";
import { duration, oneOf, url } from "../fields.ts";
import { COMMAND, commandIn, HEADER, key, textLike } from "./fields.ts";
import { PRESET } from "./preset.ts";
import type { Reading } from "./reading.ts";
import { readSigningKey } from "./secrets.ts";
import { readSender } from "./sender.ts";
import { type Known, shown } from "./shape.ts";
import { readTargetHeaders } from "./target-headers.ts";
import { readTargetTls, TlsSchema } from "./target-tls.ts";

const timeout = key(duration(1, "30s"), "Longest time of one attempt. Default: `HANDLER_TIMEOUT`.");

const http = v.strictObject(
  {
    url: v.pipe(url, v.description("The URL that each event is sent to.")),
    method: key(oneOf(...HTTP_METHODS), "The method. `GET` and `DELETE` send no body. Default: `POST`."),
    headers: key(
      v.record(
        textLike(HEADER, "expected the name of a header, e.g. Authorization"),
        v.string("expected text, with quotes around a number"),
        "expected a map of headers and values",
      ),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
      "Headers of the request besides our own. `${env:NAME}`, and `${file:PATH}` relative to this file, stand for a secret anywhere in a value.",
    ),
    body: key(oneOf(...BODY_FORMS), "What is sent: the body as it is, or an event of CloudEvents. Default: `raw`."),
    secret: key(
      v.string("expected env:NAME or file:PATH"),
      "Signs the requests as Standard Webhooks: `env:NAME`, or `file:PATH` relative to this file. It is `whsec_` and base64, or text.",
    ),
    signWith: key(
      PRESET,
      "Sends what this provider sends, with its headers, signed anew with `secret`, for software that expects the provider itself.",
    ),
    tls: key(TlsSchema, "Certificates, for a target with an authority of its own, or one that asks for a certificate."),
    timeout,
  },
  "expected a map with url",
);

const exec = v.strictObject(
  {
    command: v.pipe(
      COMMAND,
      v.description("The program and its arguments. A program with `/` is relative to this file."),
    ),
    timeout,
  },
  "expected a map with command",
);

const module = v.strictObject(
  {
    file: v.pipe(
      textLike(/^[^\0]+$/, "expected the path of a file"),
      v.description("The module, relative to this file. Its default export is the handler."),
    ),
    timeout,
  },
  "expected a map with file",
);

/** The handlers. A route has one of them. */
export const HANDLERS = {
  http: key(http, "Sends each event to a URL."),
  to: key(url, "Short for `http` with a URL only."),
  exec: key(exec, "Runs a program for each event."),
  module: key(module, "Calls a JavaScript module for each event."),
  log: key(v.strictObject({}, "expected {}"), "Logs each event by id and type: `{}`."),
};

type HandlerName = keyof typeof HANDLERS;
type HandlerEntry = Known<v.InferOutput<v.StrictObjectSchema<typeof HANDLERS, undefined>>>;

export const HANDLER_NAMES = Object.keys(HANDLERS) as HandlerName[];

/** Reads the one handler of a route. `names` are those that it has. Null if there is none, or it has a fault. */
export function readHandler(
  names: readonly HandlerName[],
  entry: HandlerEntry,
  reading: Reading,
): HandlerConfig | null {
  const [first, ...others] = names;
  if (first === undefined) return reading.fault(`found no handler, expected one of ${HANDLER_NAMES.join(", ")}`);
  for (const name of others) reading.at(name).fault(`found beside ${first}, expected one handler`, "key");
  const [handler = null] = names.map((name) => READERS[name](entry, reading));
  return handler;
}

/** The longest time of one attempt, if the handler of a route has one. */
export function timeoutOf([name]: readonly HandlerName[], entry: HandlerEntry): number | undefined {
  const handler = name && entry[name];
  return typeof handler === "object" && "timeout" in handler ? handler.timeout : undefined;
}

const READERS: Record<HandlerName, (entry: HandlerEntry, reading: Reading) => HandlerConfig | null> = {
  to: ({ to }) => (to === undefined ? null : { kind: "http", url: to, key: null }),
  http({ http: { url, secret, method, headers, body, signWith: preset, tls } = {} }, reading) {
    const signWith =
      preset === undefined ? undefined : readSender(preset, { secret, method, body }, reading.at("http"));
    const key = secret === undefined || preset ? null : readSigningKey(secret, reading.at("http", "secret"));
    const known = headers && readTargetHeaders(headers, reading.at("http", "headers"));
    if (body === "cloudevents-structured" && (method === "GET" || method === "DELETE"))
      reading
        .at("http", "body")
        .fault(`found beside ${method}, which sends no body, expected raw or cloudevents-binary`);
    const certificates = tls && readTargetTls(tls, url, reading.at("http", "tls"));
    if (url === undefined || signWith === null) return null;
    return { kind: "http", url, key, ...defined({ method, headers: known, body, signWith, tls: certificates }) };
  },
  exec({ exec: { command } = {} }, { context: { folder } }) {
    return command === undefined ? null : { kind: "exec", command: commandIn(folder, command), folder };
  },
  module({ module: { file } = {} }, reading) {
    return file === undefined ? null : { kind: "module", file: readFile(file, reading.at("module", "file")) };
  },
  log: () => ({ kind: "log" }),
};

/** Checks the file of a module, without loading it. Returns its absolute path. */
function readFile(name: string, reading: Reading): string {
  const { folder, modules } = reading.context;
  const file = resolve(folder, name);
  modules.add(file);
  const fault = (why: string) =>
    reading.fault(`found ${shown(name, reading.path)}, which ${why}, expected a readable file`);
  try {
    accessSync(file, constants.R_OK);
    if (!statSync(file).isFile()) fault("is no regular file");
  } catch (error) {
    fault(`cannot be read (${systemCode(error)})`);
  }
  return file;
}
