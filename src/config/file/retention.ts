import * as v from "valibot";
import { DEFAULT_RETENTION, type Keep, type Retention } from "../../events/retention.ts";
import { defined } from "../../lib/defined.ts";
import { diskSize, duration } from "../fields.ts";
import { formatDuration } from "../units.ts";
import { key, keyOr, numberOrText } from "./fields.ts";
import { map } from "./shape.ts";

// A hundred years.
const MAX_RETENTION = { ms: 36_500 * 86_400_000, text: "at most 36500d" };

const period = duration(0, "30d", MAX_RETENTION);
const bytes = numberOrText(diskSize, "expected a size such as 20g");
const count = v.pipe(
  v.number("expected a whole number"),
  v.integer("expected a whole number"),
  v.minValue(0, "expected a whole number"),
);

const keep = (standard: Keep, meaning: string) =>
  keyOr(
    v.union(
      [
        v.pipe(
          period,
          v.transform((forMs): Keep => ({ ...standard, forMs })),
        ),
        map(
          {
            for: key(period, "How long, since the event ended."),
            count: key(count, "How many. The oldest are removed first."),
            bytes: key(bytes, "How many bytes of payloads and headers. The oldest are removed first."),
          },
          undefined,
          { read: ({ for: forMs, ...bounds }): Keep => ({ ...standard, ...defined({ forMs, ...bounds }) }) },
        ),
      ],
      // What is no map is meant as a duration.
      ({ issues }) => issues?.[0].message ?? "",
    ),
    formatDuration(standard.forMs),
    meaning,
  );

/** How long events are kept. What is missing has its default. */
export const RetentionSchema = map(
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
  {
    read: ({ processed, failed, ids: idsMs, maxBytes = DEFAULT_RETENTION.maxBytes }): Retention => ({
      processed,
      failed,
      idsMs,
      maxBytes,
    }),
  },
);
