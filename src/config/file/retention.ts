import * as v from "valibot";
import { DEFAULT_RETENTION, type Keep, type Retention } from "../../events/retention.ts";
import { diskSize, duration } from "../fields.ts";
import { formatDuration } from "../units.ts";
import { key, keyOr, numberOrText } from "./fields.ts";
import type { Known } from "./shape.ts";

// A hundred years.
const MAX_RETENTION = { ms: 36_500 * 86_400_000, text: "at most 36500d" };

const period = duration(0, "30d", MAX_RETENTION);
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

const keep = (standard: Keep, meaning: string) =>
  keyOr(
    // What is no map is meant as a duration.
    v.union([period, KeepSchema], ({ issues }) => issues?.[0].message ?? ""),
    formatDuration(standard.forMs),
    meaning,
  );

/** The retention as it is written in the file. */
export const RetentionSchema = v.strictObject(
  {
    processed: keep(
      DEFAULT_RETENTION.processed,
      "How long processed events are kept: `30d`, or a map of `for`, `count`, `bytes`.",
    ),
    failed: keep(DEFAULT_RETENTION.failed, "How long failed events are kept, like `processed`."),
    ids: keyOr(
      period,
      formatDuration(DEFAULT_RETENTION.idsMs),
      "How long ids are kept since the receipt, at least as long as their events. They detect late duplicates.",
    ),
    maxBytes: key(
      bytes,
      "Largest size of the database. Beyond it the oldest processed events are removed, then the oldest failed ones. Default: none.",
    ),
  },
  "expected a map such as { processed: 30d }",
);

type RetentionEntry = Known<v.InferOutput<typeof RetentionSchema>>;

/** The retention of an entry. What is missing has its default. */
export function retentionOf({ processed, failed, ids, maxBytes }: RetentionEntry = {}): Retention {
  return {
    processed: keepOf(processed, DEFAULT_RETENTION.processed),
    failed: keepOf(failed, DEFAULT_RETENTION.failed),
    idsMs: ids ?? DEFAULT_RETENTION.idsMs,
    maxBytes: maxBytes ?? DEFAULT_RETENTION.maxBytes,
  };
}

function keepOf(entry: RetentionEntry["processed"], standard: Keep): Keep {
  const { for: forMs, count, bytes } = typeof entry === "object" ? entry : { for: entry };
  return {
    forMs: forMs ?? standard.forMs,
    count: count ?? standard.count,
    bytes: bytes ?? standard.bytes,
  };
}
