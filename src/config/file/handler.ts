import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import * as v from "valibot";
import { systemCode } from "../../errors.ts";
import { defined } from "../../lib/defined.ts";
import { BODY_FORMS, type HandlerConfig, HTTP_METHODS } from "../../worker/route.ts";
import { duration, oneOf, url } from "../fields.ts";
import { COMMAND, IN_FOLDER, key, textLike } from "./fields.ts";
import { PRESET } from "./preset.ts";
import type { Reading } from "./reading.ts";
import { SECRET, signingKeyIn } from "./secrets.ts";
import { checkSender, senderOf } from "./sender.ts";
import { becomes, type Known, map, shown } from "./shape.ts";
import { HeadersSchema } from "./target-headers.ts";
import { TlsSchema } from "./target-tls.ts";

/** What processes the events of a route, and the longest time of one attempt if the file has one. */
interface Handling {
  handler: HandlerConfig;
  timeoutMs?: number | undefined;
}

const timeout = key(duration(1, "30s"), "Longest time of one attempt. Default: `HANDLER_TIMEOUT`.");

const http = map(
  {
    url: v.pipe(url, v.description("The URL that each event is sent to.")),
    method: key(oneOf(...HTTP_METHODS), "The method. `GET` and `DELETE` send no body. Default: `POST`."),
    headers: key(
      HeadersSchema,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
      "Headers of the request besides our own. `${env:NAME}`, and `${file:PATH}` relative to this file, stand for a secret anywhere in a value.",
    ),
    body: key(oneOf(...BODY_FORMS), "What is sent: the body as it is, or an event of CloudEvents. Default: `raw`."),
    secret: key(
      SECRET,
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
  {
    check(entry, reading) {
      const { method, body } = entry;
      if ("tls" in entry && entry.url?.startsWith("http:"))
        reading.at("tls").fault("found beside an http URL, expected an https one", "key");
      if (body === "cloudevents-structured" && (method === "GET" || method === "DELETE"))
        reading.at("body").fault(`found beside ${method}, which sends no body, expected raw or cloudevents-binary`);
      checkSender(entry, reading.at("signWith"));
    },
    read({ url, secret, signWith: preset, timeout: timeoutMs, ...rest }, reading): Handling | null {
      const place = reading.at("secret");
      const key = secret === undefined || preset !== undefined ? null : signingKeyIn(secret, place);
      const signWith = secret === undefined || preset === undefined ? undefined : senderOf(preset, secret, place);
      return signWith === null
        ? null
        : { handler: { kind: "http", url, key, ...defined({ ...rest, signWith }) }, timeoutMs };
    },
  },
);

const exec = map(
  {
    command: v.pipe(
      COMMAND,
      v.description("The program and its arguments. A program with `/` is relative to this file."),
      IN_FOLDER,
    ),
    timeout,
  },
  "expected a map with command",
  {
    read: ({ command, timeout: timeoutMs }, { context: { folder } }): Handling => ({
      handler: { kind: "exec", command, folder },
      timeoutMs,
    }),
  },
);

const module = map(
  {
    file: v.pipe(
      textLike(/^[^\0]+$/, "expected the path of a file"),
      v.description("The module, relative to this file. Its default export is the handler."),
      becomes(readFile),
    ),
    timeout,
  },
  "expected a map with file",
  { read: ({ file, timeout: timeoutMs }): Handling => ({ handler: { kind: "module", file }, timeoutMs }) },
);

/** The handlers. A route has one of them. */
export const HANDLERS = {
  http: key(http, "Sends each event to a URL."),
  to: key(
    v.pipe(
      url,
      v.transform((url): Handling => ({ handler: { kind: "http", url, key: null } })),
    ),
    "Short for `http` with a URL only.",
  ),
  exec: key(exec, "Runs a program for each event."),
  module: key(module, "Calls a JavaScript module for each event."),
  log: key(
    map({}, "expected {}", { read: (): Handling => ({ handler: { kind: "log" } }) }),
    "Logs each event by id and type: `{}`.",
  ),
};

const NAMES = Object.keys(HANDLERS) as (keyof typeof HANDLERS)[];

/** Checks that a route has one handler. Returns its name. */
export function checkHandler(entry: Known<typeof HANDLERS>, reading: Reading): keyof typeof HANDLERS | undefined {
  const [first, ...others] = NAMES.filter((name) => name in entry);
  if (first === undefined) reading.fault(`found no handler, expected one of ${NAMES.join(", ")}`);
  for (const name of others) reading.at(name).fault(`found beside ${first}, expected one handler`, "key");
  return first;
}

/** Checks the file of a module, without loading it. Returns its absolute path. */
function readFile(name: string, reading: Reading): string | null {
  const { folder, modules } = reading.context;
  const file = resolve(folder, name);
  modules.add(file);
  const fault = (why: string) =>
    reading.fault(`found ${shown(name, reading.path)}, which ${why}, expected a readable file`);
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile() ? file : fault("is no regular file");
  } catch (error) {
    return fault(`cannot be read (${systemCode(error)})`);
  }
}
