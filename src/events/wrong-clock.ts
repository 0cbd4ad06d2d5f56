/**
 * The events that came while the clock was behind, by their numbers. `until` and `setRightAt` (Unix milliseconds) are
 * null while it still is.
 */
export interface WrongTime {
  after: number;
  until: number | null;
  setRightAt: number | null;
}

/** What a server knows of its clock. `now` is Unix milliseconds. */
export interface ClockNote {
  now: number;
  /** It is certainly behind. */
  isBehind: boolean;
  /** The last event before it was behind, if it has just been set right. */
  wasBehindAfter?: number;
}

/** Where the wrong times are kept in the table `metadata`. */
export const WRONG_TIMES = "wrong_times";

// A clock is set right once or twice, so these are years.
const KEPT = 100;

/** Reads the kept wrong times. */
export const parseWrongTimes = (text: string | null | undefined) => JSON.parse(text ?? "[]") as WrongTime[];

/** Adds what a server knows of its clock. `newest` is the number of the newest event. */
export function withNote(times: readonly WrongTime[], note: ClockNote, newest: number): readonly WrongTime[] {
  const { now, isBehind, wasBehindAfter } = note;
  const isOpen = times.some(({ until }) => until === null);
  if (isBehind) return isOpen ? times : [...times, { after: newest, until: null, setRightAt: null }].slice(-KEPT);
  if (isOpen) return times.map((time) => (time.until === null ? { ...time, until: newest, setRightAt: now } : time));
  if (wasBehindAfter === undefined || wasBehindAfter >= newest) return times;
  return [...times, { after: wasBehindAfter, until: newest, setRightAt: now }].slice(-KEPT);
}

/** When the clock was set right with which an event came. Null if it still is wrong; undefined if it was right. */
export function setRightAt(times: readonly WrongTime[], event: number): number | null | undefined {
  const found = times.filter(({ after, until }) => event > after && (until === null || event <= until));
  if (found.length === 0) return undefined;
  const all = found.map((time) => time.setRightAt);
  return all.includes(null) ? null : Math.max(...(all as number[]));
}
