import * as v from "valibot";
import { DEFAULT_RETENTION, type Keep, type Retention } from "../../events/retention.ts";
import { diskSize, duration } from "../fields.ts";
import { faultsOf, isMap, shown, unknownKeys } from "./faults.ts";
import { key, numberOrText } from "./fields.ts";
import { type Known, knownKeys } from "./known-keys.ts";
import type { Reading } from "./reading.ts";

// A hundred years.
const LONGEST_RETENTION = { ms: 36_500 * 86_400_000, text: "at most 36500d" };

const period = duration(0, "30d", LONGEST_RETENTION);
const bytes = numberOrText(diskSize, "expected a size such as 20g");
const count = v.pipe(
  v.number("expected a whole number"),
  v.integer("expected a whole number"),
  v.minValue(0, "expected a whole number"),
);

const KeepSchema = v.strictObject({
  for: key(period, "How long, since the event ended."),
  count: key(count, "How many. The oldest are removed first."),
  bytes: key(bytes, "How many bytes of payloads and headers. The oldest are removed first."),
});

const keep = v.union([period, KeepSchema]);

/** The retention as it is written in the file. */
export const RetentionSchema = v.strictObject({
  processed: key(
    keep,
    "How long processed events are kept: `30d`, or a map of `for`, `count`, `bytes`. Default: `30d`.",
  ),
  failed: key(keep, "How long failed events are kept, like `processed`. Default: `90d`."),
  ids: key(
    period,
    "How long ids are kept since the receipt, at least as long as their events. They detect late duplicates. Default: `90d`.",
  ),
  maxBytes: key(
    bytes,
    "Largest size of the database. Beyond it the oldest processed events are removed, then the oldest failed ones. Default: none.",
  ),
});

const TotalSchema = v.strictObject({ ids: RetentionSchema.entries.ids, maxBytes: RetentionSchema.entries.maxBytes });

const PATH = ["retention"];

/** Reads `retention`. What is missing or wrong has its default. */
export function readRetention(value: unknown, reading: Reading): Retention {
  if (value === undefined) return DEFAULT_RETENTION;
  if (!isMap(value)) {
    reading.faults.push({
      path: PATH,
      message: `found ${shown(value, PATH)}, expected a map such as { processed: 30d }`,
    });
    return DEFAULT_RETENTION;
  }
  reading.faults.push(...unknownKeys({ ...value, processed: undefined, failed: undefined }, RetentionSchema, PATH));
  const { ids, maxBytes } = knownKeys(value, TotalSchema, PATH, reading.faults);
  return {
    processed: readKeep(value, "processed", reading),
    failed: readKeep(value, "failed", reading),
    idsMs: ids ?? DEFAULT_RETENTION.idsMs,
    maxBytes: maxBytes ?? DEFAULT_RETENTION.maxBytes,
  };
}

function readKeep(retention: Record<string, unknown>, status: "processed" | "failed", { faults }: Reading): Keep {
  const path = [...PATH, status];
  const value = retention[status];
  const standard = DEFAULT_RETENTION[status];
  if (value === undefined) return standard;
  if (!isMap(value)) {
    const { success, output, issues = [] } = v.safeParse(period, value);
    faults.push(...faultsOf(issues, path));
    return success ? { ...standard, forMs: output } : standard;
  }
  faults.push(...unknownKeys(value, KeepSchema, path));
  const known: Known<v.InferOutput<typeof KeepSchema>> = knownKeys(value, KeepSchema, path, faults);
  return {
    forMs: known.for ?? standard.forMs,
    count: known.count ?? standard.count,
    bytes: known.bytes ?? standard.bytes,
  };
}
