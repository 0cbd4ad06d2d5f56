import type { ErrorCode } from "../../errors.ts";
import { DAY_MS } from "../../lib/durations.ts";
import { type Repetition, repeat } from "../../lib/repeat.ts";
import { timeout } from "../../lib/timeout.ts";
import type { Log } from "../../log.ts";
import type { PauseReason } from "../intake/admission.ts";
import { BEAT_EVERY_MS, joined, MAX_RESTART_MS, MIN_GAP_MS, type Outage, type OutageKind } from "./outage.ts";
import type { Heartbeat, OutageStore } from "./store.ts";

/** Notices when deliveries cannot be taken, from `start` to `stop`. */
export interface OutageWatch {
  /** Looks when the last server took deliveries, and begins the heartbeat. */
  start(): Promise<void>;
  /** A delivery was refused with this code. */
  refused(code: ErrorCode): void;
  stop(): Promise<void>;
}

interface WatchOptions {
  store: Pick<OutageStore, "beat" | "record">;
  /** Why deliveries are paused; null if they are not. */
  pausedBy(): PauseReason | null;
  /** Whether other servers on the same database may take deliveries, and write heartbeats. */
  isShared: boolean;
  log: Log;
  now(): number;
  /** A clock in milliseconds that is never set, and runs while the machine is suspended. */
  sinceBootMs(): number;
}

// A delivery waits as long for its commit.
const TIMEOUT_MS = 8000;
const STOP_TIMEOUT_MS = 2000;
/** For so long outages are kept. */
const OUTAGES_KEPT_MS = 90 * DAY_MS;

const KIND_OF_PAUSE: Record<PauseReason, OutageKind> = { disk_low: "disk", queue_old: "queue" };

/** What the code of a refusal says about the receiver; undefined if nothing. */
const KIND_OF_CODE: Partial<Record<ErrorCode, OutageKind>> = { queue_full: "queue", store_unavailable: "store" };

/**
 * Creates the watch. A heartbeat says that this server takes deliveries; a gap between two is an outage. While the
 * store does not answer, outages wait in memory.
 */
export function createOutageWatch({ store, pausedBy, isShared, log, now, sinceBootMs }: WatchOptions): OutageWatch {
  /** Outages that go on, or are not stored yet. */
  let unsaved: Outage[] = [];
  /** The newest outage of each kind, which refusals prolong. */
  const newest = new Map<OutageKind, Outage>();
  let beatAt: number | null = null;
  /** When that was, on the clock that is never set. */
  let beatSinceBootMs = 0;
  let isHanging = false;
  let beating: Repetition | undefined;

  function note(time: Outage): void {
    const known = newest.get(time.kind);
    const outage = (known && joined(known, time)) ?? time;
    newest.set(time.kind, outage);
    unsaved = [...unsaved.filter(({ kind, from }) => kind !== outage.kind || from !== outage.from), outage];
  }

  async function save(): Promise<void> {
    for (const outage of unsaved) {
      await store.record(outage, now() - OUTAGES_KEPT_MS);
      unsaved = unsaved.filter((other) => other !== outage);
    }
  }

  /** Writes a heartbeat. While one hangs, no other is written. */
  async function beatInTime(at: number, isLast = false): Promise<Heartbeat | null> {
    if (isHanging) throw new Error("the store does not answer");
    isHanging = true;
    const written = store.beat(at, isLast).finally(() => {
      isHanging = false;
    });
    return timeout(TIMEOUT_MS, written, () => new Error(`no answer within ${TIMEOUT_MS} ms`));
  }

  async function beat(): Promise<void> {
    const at = now();
    const sinceBoot = sinceBootMs();
    const passedMs = sinceBoot - beatSinceBootMs;
    const reason = pausedBy();
    if (reason !== null) note({ kind: KIND_OF_PAUSE[reason], from: at, to: at });
    let before: Heartbeat | null;
    try {
      before = await beatInTime(at);
    } catch (error) {
      note({ kind: "store", from: beatAt === null ? at : at - passedMs, to: at });
      throw error;
    }
    noteGap(before, at, passedMs);
    beatAt = at;
    beatSinceBootMs = sinceBoot;
    await save();
  }

  /**
   * A gap between two heartbeats is an outage, unless the store did not take one in between. The time of a clock that
   * was set forward in between did not pass.
   */
  function noteGap(earlier: Heartbeat | null, at: number, passedMs: number): void {
    const isFirst = beatAt === null;
    const leastMs = isFirst && !isShared ? 1 : MIN_GAP_MS;
    if (earlier === null) return;
    const before = isFirst ? earlier.at : Math.max(earlier.at, at - passedMs);
    if (at - before < leastMs) return;
    const store = newest.get("store");
    if (!isFirst && store !== undefined && store.to >= before) {
      note({ kind: "store", from: store.from, to: at });
      return;
    }
    const isRestart = earlier.isLast && at - before <= MAX_RESTART_MS;
    note({ kind: isRestart ? "restart" : "stopped", from: before, to: at });
    const seconds = Math.round((at - before) / 1000);
    log.info({ event: "outage_noticed", seconds }, `no delivery could be taken for ${seconds} seconds`);
  }

  return {
    async start() {
      beating = repeat(beat, {
        firstMs: 0,
        everyMs: BEAT_EVERY_MS,
        onError: (error) =>
          log.warn({ event: "heartbeat_error", error }, "that the server takes deliveries could not be stored"),
      });
      await beating.ended();
    },
    refused(code) {
      const reason = pausedBy();
      const kind = code === "intake_paused" && reason !== null ? KIND_OF_PAUSE[reason] : KIND_OF_CODE[code];
      if (kind !== undefined) note({ kind, from: now(), to: now() });
    },
    async stop() {
      // So that the outage begins at the stop, and not at the last heartbeat, and is told from a crash.
      const ended = Promise.resolve(beating?.stop()).then(async () => {
        await beatInTime(now(), true);
        await save();
      });
      await timeout(STOP_TIMEOUT_MS, ended, () => new Error("the store does not answer")).catch(() => {});
    },
  };
}
