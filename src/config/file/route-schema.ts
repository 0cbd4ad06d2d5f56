import * as v from "valibot";
import type { StatusRange } from "../../worker/decide.ts";
import { duration, fraction, integer, LONGEST_WAIT, oneOf, parsed, url } from "../fields.ts";
import { key, NAME, NAME_EXPECTATION, numberOrText, TEXT, textLike } from "./fields.ts";

export const PATH_EXPECTATION = "expected a path with dots and without body:, e.g. data.object.customer";

/** The path of a member of the payload. */
export const JsonPath = textLike(/^(?!body:)[^.]+(?:\.[^.]+)*$/, PATH_EXPECTATION);

const scalar = v.union([v.string(), v.pipe(v.number(), v.finite()), v.boolean(), v.null()], "expected a single value");

/** The accepted values of a member of the payload. */
export const Accepted = v.union(
  [scalar, v.pipe(v.array(scalar), v.minLength(1, "expected at least one value"))],
  "expected a single value or a list of them",
);

const type = textLike(/^!?[^!]/, "expected a type, e.g. invoice.*, or ! and a type");

const timeout = key(duration(1, "30s"), "Longest time of one attempt. Default: `HANDLER_TIMEOUT`.");

const http = v.strictObject(
  {
    url: v.pipe(url, v.description("The URL that each event is posted to.")),
    secret: key(
      v.string("expected env:NAME or file:PATH"),
      "Signs the requests as Standard Webhooks: `env:NAME`, or `file:PATH` relative to this file. It is `whsec_` and base64, or text.",
    ),
    timeout,
  },
  "expected a map with url",
);

const word = textLike(/^[^\0]*$/, "expected text without U+0000");

const exec = v.strictObject(
  {
    command: v.pipe(
      v.array(word, "expected a program and its arguments"),
      v.check(([program]) => program !== undefined && program !== "", "expected a program and its arguments"),
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

const STATUS_EXPECTATION = "expected a status from 100 to 599 or a range, e.g. 404, 400-499 or !429";

const status = numberOrText(
  parsed((text): StatusRange | null => {
    const [, not, from, to = from] = /^(!?)([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?$/.exec(text) ?? [];
    return Number(from) <= Number(to) ? { from: Number(from), to: Number(to), isExcluded: not === "!" } : null;
  }, STATUS_EXPECTATION),
  STATUS_EXPECTATION,
);

const delay = duration(1, "1s", LONGEST_WAIT);
const MAX_DELAYS = 99;

const retry = v.strictObject(
  {
    attempts: key(
      numberOrText(integer(1, MAX_DELAYS + 1)),
      "Attempts before the dead letter. Default: `RETRY_ATTEMPTS`.",
    ),
    backoff: key(
      oneOf("exponential", "linear"),
      "`exponential` doubles the delay after each attempt. `linear` keeps it. Default: `RETRY_BACKOFF`.",
    ),
    delay: key(delay, "Delay before the first retry. Default: `RETRY_DELAY`."),
    maxDelay: key(delay, "Longest delay. Default: `10m`, or `delay` if it is longer."),
    delays: key(
      v.pipe(
        v.array(delay, "expected a list"),
        v.minLength(1, "expected at least one delay"),
        v.maxLength(MAX_DELAYS, `expected at most ${MAX_DELAYS} delays`),
      ),
      "The delay before each retry, instead of `attempts`, `backoff`, `delay` and `maxDelay`.",
    ),
    jitter: key(
      numberOrText(fraction),
      "Share of each delay that is added or subtracted at random. Default: `RETRY_JITTER`.",
    ),
    giveUpOn: key(
      v.pipe(v.array(status, "expected a list"), v.minLength(1, "expected at least one status")),
      "HTTP statuses that end the attempts at once: `404`, `400-499`, or `!429` for an exception.",
    ),
  },
  "expected a map",
);

const SECONDS = { s: 1, m: 60, h: 3600 };

const rate = parsed((text) => {
  const [, count = "", unit] = /^([1-9][0-9]{0,6})\/([smh])$/.exec(text) ?? [];
  return unit === undefined ? null : Number(count) / SECONDS[unit as keyof typeof SECONDS];
}, "expected a number of attempts per second, minute or hour, e.g. 100/s");

/** A route as it is written in the file. */
export const RouteSchema = v.strictObject({
  name: v.pipe(
    textLike(NAME, NAME_EXPECTATION),
    v.description("Names the route in commands, and its jobs in the database. Up to 64 small letters, digits and `-`."),
  ),
  source: key(
    v.union([TEXT, v.pipe(v.array(TEXT), v.minLength(1, "expected at least one source"))], "expected a name or a list"),
    "The source, or a list of sources. Default: all.",
  ),
  types: key(
    v.union([type, v.pipe(v.array(type), v.minLength(1, "expected at least one type"))], "expected a type or a list"),
    "Types of events. `*` stands for any text, `?` for one character, and `!` excludes. Default: all.",
  ),
  when: key(
    v.record(JsonPath, Accepted),
    "Conditions on the payload: for each path with dots between the names, the accepted value or a list.",
  ),
  http: key(http, "Posts each event to a URL."),
  to: key(url, "Short for `http` with a URL only."),
  exec: key(exec, "Runs a program for each event."),
  module: key(module, "Calls a JavaScript module for each event."),
  log: key(v.strictObject({}, "expected {}"), "Logs each event by id and type: `{}`."),
  retry: key(retry, "When failed attempts are repeated."),
  orderBy: key(JsonPath, "The path of a key in the payload. Jobs of one key run one at a time, in order of arrival."),
  whenStuck: key(
    oneOf("block", "skip"),
    "After a dead letter, `block` keeps later jobs of its key waiting, and `skip` runs them. Default: `block`.",
  ),
  concurrency: key(numberOrText(integer(1, 1000)), "Attempts at once. Default: `WORKER_CONCURRENCY`."),
  rate: key(
    rate,
    "Attempts that may begin per second, minute or hour, e.g. `100/s`, `60/m` or `10/h`. Default: any number.",
  ),
});

/** The handlers. A route has one of them. */
export const HANDLER_NAMES = ["http", "to", "exec", "module", "log"] as const;
