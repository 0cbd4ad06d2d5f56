import assert from "node:assert/strict";

const FACTOR = 8;

/** Long enough for the clock of processor time, which advances in steps of up to 10 ms. */
const MEASURED_MICROSECONDS = 100_000;

/**
 * Asserts that work grows in proportion to its size, not with its square. Compares the processor time of this thread,
 * to which others on the machine do not add, for a size and for eight times as much. Quadratic work takes 64 times as
 * long. `prepare` makes the input of a size, and returns the work on it.
 */
export function growsLinearly(size: number, prepare: (size: number) => () => void): void {
  const one = microsecondsOf(prepare(size));
  const eight = microsecondsOf(prepare(FACTOR * size));
  assert.ok(eight < 5 * FACTOR * one, `${one} µs for ${size}, ${eight} µs for ${FACTOR} times as much`);
}

/** The processor time of this thread for some work, in microseconds, measured for a shorter time. */
export const processorTime = (work: () => void) => microsecondsOf(work, MEASURED_MICROSECONDS / 10);

/** The mean time of one run, without that of the first. */
function microsecondsOf(work: () => void, least = MEASURED_MICROSECONDS): number {
  work();
  const before = process.threadCpuUsage();
  for (let runs = 1; ; runs++) {
    work();
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= least) return (user + system) / runs;
  }
}
