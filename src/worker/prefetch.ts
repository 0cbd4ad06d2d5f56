// A round trip to the store. The worker claims ahead as many events as handlers start in this time.
const AHEAD_MS = 5;
const MAX_AHEAD = 3;
/** Weight of the newest run in the average. */
const NEWEST = 0.1;
// Nothing is claimed ahead until runs have proved quick.
const ASSUMED_RUN_MS = 1000;

/**
 * Computes how many events to claim beyond the free capacity, so that quick handlers do not wait for the next claim.
 */
export function createPrefetch(): { noteRun(ms: number): void; events(concurrency: number): number } {
  let averageMs = ASSUMED_RUN_MS;
  return {
    noteRun(ms) {
      averageMs += NEWEST * (ms - averageMs);
    },
    events: (concurrency) => Math.floor(Math.min(MAX_AHEAD, AHEAD_MS / averageMs) * concurrency),
  };
}
