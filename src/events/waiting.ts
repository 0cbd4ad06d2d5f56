import type { JobDetail, UnavailableRoute } from "./store.ts";

/** Why a queued job is not processed yet. Times are Unix milliseconds. */
export type Waiting =
  /** An attempt is running. */
  | { reason: "running" }
  /** Its route is paused. `until`: when the pause ends by itself; null: never. */
  | { reason: "paused"; since: number; until: number | null }
  /** An earlier event of its ordering key has not ended. */
  | { reason: "earlier_event"; event: NonNullable<JobDetail["earlier"]> }
  /** The target is unavailable. `until`: the next probe; null while one is running. */
  | { reason: "target_unavailable"; since: number; until: number | null }
  /** The delay before the next attempt has not passed. */
  | { reason: "delay"; until: number }
  /** It is due, and waits for a place or for a server. */
  | { reason: "due" };

/** Why a job waits; null if it has ended. */
export function waitingOf(job: JobDetail, unavailable: readonly UnavailableRoute[], now: number): Waiting | null {
  const { status, route, leased, pausedAt, pausedUntil, earlier, dueAt } = job;
  if (status !== "queued") return null;
  if (leased) return { reason: "running" };
  if (pausedAt !== null && (pausedUntil === null || pausedUntil > now))
    return { reason: "paused", since: pausedAt, until: pausedUntil };
  if (earlier !== null) return { reason: "earlier_event", event: earlier };
  const target = unavailable.find((one) => one.route === route);
  if (target) return { reason: "target_unavailable", since: target.since, until: nextProbeOf(target, dueAt, now) };
  return dueAt !== null && dueAt > now ? { reason: "delay", until: dueAt } : { reason: "due" };
}

/** When the target is tried next, at the latest. A probe needs a job that is due: this one is at its time. */
function nextProbeOf({ probeAt }: UnavailableRoute, dueAt: number | null, now: number): number | null {
  return probeAt === null || probeAt > now ? probeAt : Math.max(probeAt, dueAt ?? probeAt);
}
