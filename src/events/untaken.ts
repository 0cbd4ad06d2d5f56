import type { EventDetail } from "./store.ts";

/** Why an event was not replayed or discarded. */
export type Untaken =
  | "there is no such event"
  | "several sources have this id: name one"
  | "is already processed"
  | "is already queued"
  | "was discarded: replay it with --force"
  | "was taken by no route: replay it with --force"
  | "an attempt is running; try again when it has ended"
  | "has no jobs yet; try again when a server has routed it"
  | "is already processed or discarded"
  | "is erased";

/** Why a replay has changed nothing of an event. */
export function whyNotReplayed({ status, erased }: Pick<EventDetail, "status" | "erased">): Untaken {
  if (erased !== null) return "is erased";
  switch (status) {
    case "processed":
      return "is already processed";
    case "discarded":
      return "was discarded: replay it with --force";
    case "unrouted":
      return "was taken by no route: replay it with --force";
    case "queued":
    case "failed":
      return "is already queued";
  }
}

/** Why a forced replay has changed nothing of an event. */
export const whyNotRerouted = ({ erased }: Pick<EventDetail, "erased">): Untaken =>
  erased === null ? "is already queued" : "is erased";

/** Why a discard has changed nothing of an event. */
export function whyNotDiscarded({ status, jobs, erased }: Pick<EventDetail, "status" | "jobs" | "erased">): Untaken {
  if (erased !== null) return "is erased";
  if (jobs.some(({ leased }) => leased)) return "an attempt is running; try again when it has ended";
  if (status === "queued") return "has no jobs yet; try again when a server has routed it";
  return "is already processed or discarded";
}
