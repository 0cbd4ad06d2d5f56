import * as v from "valibot";
import { JOB_CURSOR, LIST_CURSOR, PURGE_CURSOR } from "../events/cursors.ts";
import { MAX_FOR_MS } from "../events/limits.ts";
import { parseIsoTime } from "../lib/iso-time.ts";

// The fields of several requests and answers. Texts of errors name what a value must be.

export const text = v.pipe(v.string(), v.nonEmpty("must not be empty"), v.maxLength(1000, "is too long"));
export const time = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const parsed = parseIsoTime(dataset.value);
    if (parsed !== null) return parsed;
    addIssue({ message: "must be a time, e.g. 2026-01-31T12:00:00Z" });
    return NEVER;
  }),
  v.description("A time in ISO 8601, e.g. 2026-01-31T12:00:00Z."),
);
export const forMs = v.pipe(
  v.number("must be a number"),
  v.integer("must be a whole number"),
  v.minValue(1, "must be above 0"),
  v.maxValue(MAX_FOR_MS, "must be at most a year"),
  v.description("Milliseconds."),
);
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const timestamp = v.pipe(v.string(), v.isoTimestamp());
export const cursor = v.nullable(v.string());

const MAX_LIMIT = 500;
export const limit = v.pipe(
  v.string(),
  v.regex(/^[0-9]{1,3}$/, "must be a whole number"),
  v.transform(Number),
  v.number(),
  v.integer(),
  v.minValue(1, "must be at least 1"),
  v.maxValue(MAX_LIMIT, `must be at most ${MAX_LIMIT}`),
);

export const CONDITIONS_OF_JOBS = {
  type: v.optional(text),
  source: v.optional(text),
  since: v.optional(time),
  until: v.optional(time),
  error: v.optional(text),
};
/** A text that payloads may spell with escapes, each of which has up to twelve characters. */
const searched = v.pipe(v.string(), v.nonEmpty("must not be empty"), v.maxLength(12_000, "is too long"));
export const CONDITIONS = { ...CONDITIONS_OF_JOBS, search: v.optional(searched) };
const NOT_A_CURSOR = "is not a cursor of this request";
export const listCursor = v.pipe(v.string(), v.regex(LIST_CURSOR, NOT_A_CURSOR));
export const purgeCursor = v.pipe(v.string(), v.regex(PURGE_CURSOR, NOT_A_CURSOR));
export const jobCursor = v.pipe(v.string(), v.regex(JOB_CURSOR, NOT_A_CURSOR));

/** What a route says of an event, by the present configuration. */
export const RouteVerdict = v.object({
  route: v.string(),
  unmet: v.pipe(
    v.nullable(v.string()),
    v.description(
      "`source`, `types`, `when` and the first condition that does not hold, `origin`, or `time` if that took too long; null if it takes the event.",
    ),
  ),
  expected: v.nullable(v.string()),
  found: v.pipe(v.nullable(v.string()), v.description("The beginning of the value; null if it is missing.")),
});
