import { networkOf } from "../../lib/network.ts";

const WINDOW_MS = 5 * 60_000;
const LIMIT = 50;
// Who has more networks than these can forget some. A token cannot be guessed anyway: this bounds the load.
const MAX_NETWORKS = 10_000;

/** Creates counts of the wrong tokens of each address (or IPv6 /64) over a sliding window, in memory. */
export function createWrongTokens() {
  /** The times of wrong tokens, the oldest first. The networks are in the order of their newest one. */
  const times = new Map<string, number[]>();

  const inWindow = (network: string, now: number) =>
    (times.get(network) ?? []).filter((at) => at > now - WINDOW_MS && at <= now);

  return {
    /** For how long no further wrong token is judged, in milliseconds. 0: it is. */
    waitMs(address: string, now: number): number {
      const [oldest, ...others] = inWindow(networkOf(address), now);
      return oldest === undefined || others.length + 1 < LIMIT ? 0 : oldest + WINDOW_MS - now;
    },
    add(address: string, now: number): void {
      const network = networkOf(address);
      const kept = [...inWindow(network, now), now].slice(-LIMIT);
      times.delete(network);
      times.set(network, kept);
      const [longestAgo] = times.keys();
      if (times.size > MAX_NETWORKS && longestAgo !== undefined) times.delete(longestAgo);
    },
  };
}
