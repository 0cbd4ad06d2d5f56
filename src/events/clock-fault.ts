import { DAY_MS } from "../lib/durations.ts";
import { isoTime } from "../lib/iso-time.ts";

/** No clock is right that is before this version was made. Raised with each release. */
export const MADE_AT = Date.UTC(2026, 10, 1);

// Clocks of senders, servers and databases differ by less.
const BEFORE_MS = 60_000;
const LONG_AFTER_DAYS = 30;

/** What is wrong with a clock. `isCertain`: it is wrong now, or was wrong when the newest event came. */
interface ClockFault {
  found: string;
  remedy: string;
  isCertain: boolean;
}

const SET_IT = "set the clock, and run a time service such as chrony or systemd-timesyncd";

/** Compares a clock with when this version was made and with the newest event. Null if nothing is wrong. */
export function faultOfClock(now: number, newestEventAt: number | null): ClockFault | null {
  const time = isoTime(now);
  if (newestEventAt !== null && newestEventAt > now + BEFORE_MS) {
    return {
      found: `${time} is before the newest event at ${isoTime(newestEventAt)}`,
      remedy: SET_IT,
      isCertain: true,
    };
  }
  if (now < MADE_AT) return { found: `${time} is before this version was made`, remedy: SET_IT, isCertain: true };
  const days = newestEventAt === null ? 0 : Math.floor((now - newestEventAt) / DAY_MS);
  if (days < LONG_AFTER_DAYS) return null;
  const found = `${time} is ${days} days after the newest event`;
  return { found, remedy: "compare it to a clock that you trust, unless no events came", isCertain: false };
}
