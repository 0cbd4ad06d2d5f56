import type { Status } from "../events/event.ts";

/** The colour of each status. */
export const STATUS_STYLE = { queued: "yellow", processed: "green", failed: "red" } as const satisfies Record<
  Status,
  string
>;
