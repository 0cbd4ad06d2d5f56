import * as v from "valibot";
import { defined } from "../../lib/defined.ts";
import { NAME } from "../../lib/name.ts";
import type { Route } from "../../worker/route.ts";
import { duration, integer, oneOf } from "../fields.ts";
import { key, listOf, NAME_EXPECTATION, numberOrText, rateOf, TEXT, textLike } from "./fields.ts";
import { checkHandler, HANDLERS } from "./handler.ts";
import type { Reading } from "./reading.ts";
import { type RetryEntry, RetrySchema } from "./retry.ts";
import { checkShadow, type ShadowEntry, ShadowSchema } from "./shadow.ts";
import { becomes, hintOf, type Known, map, shown } from "./shape.ts";
import { TransformSchema } from "./transform.ts";
import { JsonPath, WhenSchema } from "./when.ts";

/** One of something, or a list. */
const oneOrMore = <Input, One>(schema: v.GenericSchema<Input, One | One[]>) =>
  v.pipe(
    schema,
    v.transform((given) => [given].flat() as One[]),
  );

const type = textLike(/^!?[^!]/, "expected a type, e.g. invoice.*, or ! and a type");

const sourceName = v.pipe(TEXT, becomes(knownSource));

/** A route of the file. What is undefined comes from the settings. */
export interface RouteEntry extends Omit<Route, "timeoutMs" | "retry" | "concurrency"> {
  timeoutMs?: number | undefined;
  retry: RetryEntry;
  concurrency?: number | undefined;
}

/** What a route has that says no more than its handler: it takes every event at once. */
export const EVERY_EVENT: Omit<RouteEntry, "name" | "handler"> = {
  sources: null,
  types: [],
  when: [],
  transform: null,
  delayMs: 0,
  orderBy: null,
  whenStuck: "block",
  retry: {},
  ratePerSecond: null,
};

const ROUTE_KEYS = {
  name: v.pipe(
    textLike(NAME, NAME_EXPECTATION),
    v.description("Names the route in commands, and its jobs in the database. Up to 64 small letters, digits and `-`."),
    becomes(firstOfName),
  ),
  source: key(
    oneOrMore(v.union([sourceName, listOf(sourceName, "source")], "expected a name or a list")),
    "The source, or a list of sources. Default: all.",
  ),
  types: key(
    oneOrMore(v.union([type, listOf(type, "type")], "expected a type or a list")),
    "Types of events. `*` stands for any text, `?` for one character, and `!` excludes. Default: all.",
  ),
  when: key(
    WhenSchema,
    "Conditions that must all hold: for each path of the payload, or `header:NAME`, the accepted value, a list of them, or a map of operators. `any`, `all` and `not` have conditions of their own.",
  ),
  transform: key(
    TransformSchema,
    "Sends the result of an expression instead of the payload: JSON, or text if the result is text.",
  ),
  ...HANDLERS,
  retry: key(RetrySchema, "When failed attempts are repeated."),
  delay: key(duration(0, "5m"), "The first attempt is not before the receipt and this time. Default: none."),
  orderBy: key(JsonPath, "The path of a key in the payload. Jobs of one key run one at a time, in order of arrival."),
  whenStuck: key(
    oneOf("block", "skip"),
    "After a dead letter, `block` keeps later jobs of its key waiting, and `skip` runs them. Default: `block`.",
  ),
  concurrency: key(numberOrText(integer(1, 1000)), "Attempts at once. Default: `WORKER_CONCURRENCY`."),
  rate: key(
    rateOf("attempts"),
    "Attempts that may begin per second, minute or hour, e.g. `100/s`, `60/m` or `10/h`. Default: any number.",
  ),
  shadow: key(ShadowSchema, "Lets the route get what another route has sent, once, and compares their answers."),
};

/** A route, or a shadow, which gets what another route has sent. */
export const RouteSchema = map(ROUTE_KEYS, "expected a map with name and a handler", {
  check(entry, reading) {
    const handler = checkHandler(entry, reading);
    if ("shadow" in entry) checkShadow(entry, handler, reading);
    else checkRoute(entry, handler, reading);
  },
  read({ name, concurrency, transform = null, shadow, ...entry }): RouteEntry | ShadowEntry | null {
    const { http, to, exec, module, log, ...ofRoute } = entry;
    const { handler, timeoutMs } = http ?? to ?? exec ?? module ?? log ?? {};
    if (handler === undefined) return null;
    const common = { name, transform, timeoutMs, concurrency };
    if (shadow) return handler.kind === "http" ? { ...common, ...shadow, handler } : null;
    const { source: sources, delay: delayMs, rate, ...same } = ofRoute;
    // A key that is not named above is a member of the route with the same name.
    const members: Partial<Pick<RouteEntry, keyof typeof same>> = defined(same);
    return {
      ...EVERY_EVENT,
      ...common,
      handler,
      ...members,
      ...defined({ sources, delayMs, ratePerSecond: rate?.perSecond }),
    };
  },
});

function checkRoute(entry: Known<typeof ROUTE_KEYS>, handler: string | undefined, reading: Reading): void {
  if ("whenStuck" in entry && !("orderBy" in entry))
    reading.at("whenStuck").fault("found without orderBy, expected both or neither", "key");
  if ("delay" in entry && "orderBy" in entry)
    reading
      .at("delay")
      .fault("found beside orderBy, expected one of them: a job of a key waits for the one before it", "key");
  if (entry.retry?.giveUpOn && handler !== undefined && handler !== "http" && handler !== "to")
    reading.at("retry", "giveUpOn").fault(`found beside ${handler}, expected http or to`, "key");
}

function firstOfName(name: string, reading: Reading): string | null {
  const first = reading.context.outline.routes.get(name);
  if (first === undefined || first === reading.path[1]) return name;
  const line = reading.lineOf(["routes", first, "name"]);
  return reading.fault(`found "${name}" a second time, after line ${line}, expected another name`);
}

function knownSource(name: string, reading: Reading): string | null {
  const { sources } = reading.context.outline;
  if (sources === null || sources.has(name)) return name;
  return reading.fault(
    `found ${shown(name, reading.path)}, expected the name of a source${hintOf(name, [...sources])}`,
  );
}
