import * as v from "valibot";
import { NAME } from "../../lib/name.ts";
import type { Route } from "../../worker/route.ts";
import { duration, integer, oneOf } from "../fields.ts";
import { key, listOf, NAME_EXPECTATION, numberOrText, rateOf, TEXT, textLike } from "./fields.ts";
import { HANDLER_NAMES, HANDLERS, readHandler, timeoutOf } from "./handler.ts";
import type { Reading } from "./reading.ts";
import { type RetryEntry, RetrySchema, readRetry } from "./retry.ts";
import { ShadowSchema } from "./shadow-schema.ts";
import { hintOf, type Known, shown } from "./shape.ts";
import { readTransform, TransformSchema } from "./transform.ts";
import { JsonPath, readWhen, WhenSchema } from "./when.ts";

const type = textLike(/^!?[^!]/, "expected a type, e.g. invoice.*, or ! and a type");

/** A route as it is written in the file. */
export const RouteSchema = v.strictObject(
  {
    name: v.pipe(
      textLike(NAME, NAME_EXPECTATION),
      v.description(
        "Names the route in commands, and its jobs in the database. Up to 64 small letters, digits and `-`.",
      ),
    ),
    source: key(
      v.union([TEXT, listOf(TEXT, "source")], "expected a name or a list"),
      "The source, or a list of sources. Default: all.",
    ),
    types: key(
      v.union([type, listOf(type, "type")], "expected a type or a list"),
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
  },
  "expected a map with name and a handler",
);

/** The keys of a route that are right. */
export type RouteKeys = Known<v.InferOutput<typeof RouteSchema>>;

/** A route of the file. What is undefined comes from the settings. */
export interface RouteEntry extends Omit<Route, "timeoutMs" | "retry" | "concurrency"> {
  timeoutMs?: number | undefined;
  retry: RetryEntry;
  concurrency?: number | undefined;
}

/**
 * Reads `routes` but for shadows. The shape is known. `sources` are the names of all sources; null if they cannot be
 * read.
 */
export function readRoutes(
  entries: readonly (RouteKeys | undefined)[],
  sources: ReadonlySet<string> | null,
  reading: Reading,
): RouteEntry[] {
  if (entries.length === 0) reading.fault("found an empty list, expected at least one route");
  const firstUses = new Map<string, number>();
  return entries.flatMap((entry, index) => {
    if (entry === undefined) return [];
    const { name } = entry;
    const first = name === undefined ? undefined : firstUses.get(name);
    if (name !== undefined && first !== undefined) {
      const line = reading.at(first, "name").lineOf();
      reading.at(index, "name").fault(`found "${name}" a second time, after line ${line}, expected another name`);
    }
    if (name !== undefined) firstUses.set(name, first ?? index);
    if ("shadow" in entry) return [];
    return readRoute(entry, sources, reading.at(index)) ?? [];
  });
}

function readRoute(entry: RouteKeys, sources: ReadonlySet<string> | null, reading: Reading): RouteEntry | null {
  const names = HANDLER_NAMES.filter((name) => name in entry);
  const handler = readHandler(names, entry, reading);
  if (sources) unknownSources(entry.source, sources, reading.at("source"));
  const retry = readRetry(entry.retry ?? {}, names, reading.at("retry"));
  if ("whenStuck" in entry && !("orderBy" in entry))
    reading.at("whenStuck").fault("found without orderBy, expected both or neither", "key");
  if ("delay" in entry && "orderBy" in entry)
    reading
      .at("delay")
      .fault("found beside orderBy, expected one of them: a job of a key waits for the one before it", "key");
  const { name, source } = entry;
  if (name === undefined || handler === null) return null;
  return {
    name,
    sources: source === undefined ? null : [source].flat(),
    types: [entry.types ?? []].flat(),
    when: readWhen(entry.when ?? {}, reading.at("when")),
    transform: entry.transform ? readTransform(entry.transform, reading.at("transform")) : null,
    delayMs: entry.delay ?? 0,
    orderBy: entry.orderBy ?? null,
    whenStuck: entry.whenStuck ?? "block",
    handler,
    timeoutMs: timeoutOf(names, entry),
    retry,
    concurrency: entry.concurrency,
    ratePerSecond: entry.rate?.perSecond ?? null,
  };
}

function unknownSources(source: RouteKeys["source"] = [], known: ReadonlySet<string>, reading: Reading): void {
  for (const [index, name] of [source].flat().entries()) {
    const place = typeof source === "string" ? reading : reading.at(index);
    if (known.has(name)) continue;
    place.fault(`found ${shown(name, place.path)}, expected the name of a source${hintOf(name, [...known])}`);
  }
}
