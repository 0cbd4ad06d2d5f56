import { type Repetition, repeat } from "../lib/repeat.ts";
import type { Log } from "../log.ts";
import { DEAD_AFTER_MS, type Node, type NodeStore } from "./store.ts";

/** A server's place among those that share its database, from `join` to `leave`. */
export interface Membership {
  /** Sends the first heartbeat, and further ones until `leave`. */
  join(): Promise<void>;
  /** The share of this server in a rate that all servers keep together, from 0 to 1. */
  share(): number;
  leave(): Promise<void>;
}

/** Options of a membership. `now` is the database's clock, `clock` this machine's; both in Unix milliseconds. */
interface MembershipOptions {
  store: NodeStore;
  node: Node;
  log: Log;
  now: () => number;
  clock?: () => number;
  /** Milliseconds of a clock that is never set. */
  monotonic?: () => number;
}

const BEAT_EVERY_MS = 5000;
const RETRY_MS = 1000;
/**
 * A count of servers is used for this long. A server that joins has no share until all others have counted it. One that
 * could not send heartbeats for longer has none either, before the others count it as dead.
 */
const COUNT_LASTS_MS = DEAD_AFTER_MS - BEAT_EVERY_MS;

/** The membership of a server that has its store alone. */
export const ALONE: Membership = { join: async () => {}, share: () => 1, leave: async () => {} };

/**
 * Creates a membership. The shares of all servers never add up to more than 1: each divides by the number of live
 * servers, and waits before it uses a place that others may not know of yet.
 */
export function createMembership(options: MembershipOptions): Membership {
  const { store, node, log, now, clock = Date.now, monotonic = () => performance.now() } = options;
  let live = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let knownToAllAt = Number.POSITIVE_INFINITY;
  let dueAt = 0;
  let beating: Repetition | undefined;

  async function beat(): Promise<boolean> {
    const startedAt = monotonic();
    const counted = await store.beat({ node, dueAt, clock: clock() });
    // Others may use a count from before this heartbeat.
    if (startedAt > countedAt + COUNT_LASTS_MS) knownToAllAt = monotonic() + (counted === 1 ? 0 : COUNT_LASTS_MS);
    if (counted !== live && Math.max(counted, live) > 1) {
      log.info({ event: "nodes_changed", nodes: counted }, `live servers on this database: ${counted}`);
    }
    live = counted;
    countedAt = startedAt;
    return true;
  }

  function waitAfter(hasBeaten = false): number {
    const waitMs = hasBeaten ? BEAT_EVERY_MS : RETRY_MS;
    dueAt = now() + waitMs;
    return waitMs;
  }

  const onError = (error: string) =>
    log.warn({ event: "heartbeat_error", error }, "the other servers do not know that this one is alive");

  return {
    async join() {
      dueAt = now();
      beating = repeat(beat, { firstMs: 0, everyMs: waitAfter, onError });
      await beating.ended();
    },
    share() {
      const time = monotonic();
      return time < knownToAllAt || time > countedAt + COUNT_LASTS_MS ? 0 : 1 / live;
    },
    async leave() {
      await beating?.stop();
      // An unreachable database forgets it later by itself.
      await store.leave(node.id).catch(() => {});
    },
  };
}
