import { faultText } from "../errors.ts";
import { faultOfClock, MADE_AT } from "../events/clock-fault.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { durationText } from "../lib/figures.ts";
import { repeat } from "../lib/repeat.ts";
import { sinceBootMs } from "../lib/since-boot.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

const EVERY_MS = 5000;
// Time services move a clock by less, and so does a database that is another one after a failover.
const LEAST_SET_MS = HOUR_MS;

/** Warns of a clock that may be wrong, and tells the store of events when it was behind. */
export async function openClock({ stores, log }: Wiring): Promise<Part> {
  const { events, now, newestEventAt } = stores;
  const fault = faultOfClock(now(), newestEventAt);
  if (fault) log.warn({ event: "clock_warning" }, `the clock may be wrong: ${faultText(fault)}`);
  let newest = await events.noteClock({ now: now(), isBehind: now() < MADE_AT });
  let bootedAt = now() - sinceBootMs();

  async function look(): Promise<void> {
    const at = now();
    const setByMs = Math.round((at - sinceBootMs() - bootedAt) / 1000) * 1000;
    if (Math.abs(setByMs) < LEAST_SET_MS) return;
    const isForward = setByMs > 0;
    newest = await events.noteClock({ now: at, isBehind: at < MADE_AT, ...(isForward && { wasBehindAfter: newest }) });
    bootedAt += setByMs;
    const meaning = isForward ? "what came before is kept for as long as what comes now" : "it was ahead, or is behind";
    const direction = isForward ? "forward" : "back";
    log.warn(
      { event: "clock_set", seconds: setByMs / 1000 },
      `the clock was set ${direction} by ${durationText(Math.abs(setByMs))}: ${meaning}`,
    );
  }

  const looking = repeat(look, {
    everyMs: EVERY_MS,
    onError: (error) => log.warn({ event: "clock_note_error", error }, "that the clock was set could not be stored"),
  });
  return { stop: looking.stop };
}
