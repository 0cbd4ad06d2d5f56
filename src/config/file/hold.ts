import { DEFAULT_HELD_BOUNDS, type HeldBounds } from "../../webhook/held/held-store.ts";
import { diskSize, duration, integer, MAX_AGE } from "../fields.ts";
import { formatDuration, formatSize } from "../units.ts";
import { keyOr, numberOrText } from "./fields.ts";
import { map } from "./shape.ts";

/** How many refused deliveries of a source are kept. */
export const HoldSchema = map(
  {
    count: keyOr(numberOrText(integer(1, 100_000_000)), DEFAULT_HELD_BOUNDS.count, "How many."),
    bytes: keyOr(
      numberOrText(diskSize, "expected a size such as 64m"),
      formatSize(DEFAULT_HELD_BOUNDS.bytes),
      "How many bytes of bodies.",
    ),
    for: keyOr(duration(1000, "7d", MAX_AGE), formatDuration(DEFAULT_HELD_BOUNDS.forMs), "How long."),
  },
  "expected a map, which may be empty: {}",
  { read: ({ for: forMs, ...bounds }): HeldBounds => ({ ...bounds, forMs }) },
);
