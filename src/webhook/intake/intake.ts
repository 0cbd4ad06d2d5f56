import { AppError } from "../../errors.ts";
import type { Appended, NewEvent } from "../../events/store.ts";
import { createBatches } from "../../lib/batch.ts";
import { timeout } from "../../lib/timeout.ts";
import type { PauseReason } from "./admission.ts";

/** Groups received events into commits, and bounds the other writes that deliveries cause. */
export interface Intake {
  /**
   * Resolves when the event is on disk. Throws `intake_paused` or `queue_full` at once, or `store_unavailable` if the
   * commit fails.
   */
  append(event: NewEvent): Promise<Appended>;
  /**
   * Runs another write or request for a delivery, which holds so many bytes meanwhile. Throws as `append` does, once
   * waiting events and such runs use a quarter of the limits, so that events have room.
   */
  write<T>(bytes: number, run: () => Promise<T>): Promise<T>;
  /** Deliveries whose commit has not begun. */
  readonly waiting: number;
  /** Deliveries in all running commits when the newest of them began; 0 when no commit runs. */
  readonly unanswered: number;
  /** Resolves when nothing waits and no commit runs. */
  flush(): Promise<void>;
}

// Strangers can cause these writes, also at a time when the disk is slow.
const SHARE_OF_OTHERS = 0.25;

/** The store and the limits of an intake. */
export interface IntakeOptions {
  append: (batch: NewEvent[]) => Promise<Appended[]>;
  /** Why deliveries are paused; null if they are not. */
  pausedBy(): PauseReason | null;
  /** Most events that may wait for a commit. */
  queueLimit: number;
  /** Most bytes of payload that may wait or be in a commit. A single event may exceed it. */
  queueBytes?: number;
  /** Longest wait of a delivery for its commit, and for those before it. */
  timeoutMs?: number;
}

// Limits memory when bodies are large. It equals 10,000 waiting events of 6.5 KB.
const QUEUE_BYTES = 64 * 1024 * 1024;

// The next batches wait in the storage thread while it commits one, so that it never waits for this thread.
const CONCURRENT_COMMITS = 4;

// Without this, all deliveries of one turn of the event loop would be one batch, and this thread would wait for all of
// it. At 256 connections, 96 gave 1.18 ± 0.04 of the rate, and 32 gave 1.04 ± 0.04 of that; at 64 connections 1.08 ±
// 0.05.
const ENOUGH_FOR_A_BATCH = 32;

// Senders time out after 5 to 30 seconds. An earlier 503 makes them retry.
export const INTAKE_TIMEOUT_MS = 8000;
const CHECKS_PER_TIMEOUT = 20;

// Retention or somebody makes space on a disk. A queue becomes shorter by itself.
const RETRY_AFTER_SECONDS = { disk_low: 60, queue_old: 30 };

const tooSlow = () =>
  new AppError("store_unavailable", { retryAfterSeconds: 5, cause: new Error("the store is too slow") });

interface Entry {
  event: NewEvent;
  resolve: (appended: Appended) => void;
  reject: (error: unknown) => void;
  expiresAt: number;
  expired: boolean;
}

/**
 * Creates the intake. All deliveries of a batch share the result of its commit. If the store stalls, a delivery gets
 * `store_unavailable` after `timeoutMs`. Its event is then not stored, unless its commit has already begun.
 */
export function createIntake(options: IntakeOptions): Intake {
  const { append, pausedBy, queueLimit, queueBytes = QUEUE_BYTES, timeoutMs = INTAKE_TIMEOUT_MS } = options;
  /** Batches in a running commit. */
  const committing = new Set<readonly Entry[]>();
  let unanswered = 0;
  let heldBytes = 0;
  const others = { count: 0, bytes: 0 };
  let expiry: NodeJS.Timeout | undefined;

  const commits = createBatches<Entry>(
    async (batch) => {
      const live = batch.filter(({ expired }) => !expired);
      if (live.length > 0) await commit(live);
      for (const { event } of batch) heldBytes -= event.payload.length;
    },
    { width: CONCURRENT_COMMITS, enough: ENOUGH_FOR_A_BATCH },
  );

  async function commit(live: readonly Entry[]): Promise<void> {
    committing.add(live);
    unanswered = 0;
    for (const { length } of committing) unanswered += length;
    try {
      const results = await append(live.map(({ event }) => event));
      for (const [index, { resolve, reject }] of live.entries()) {
        const result = results[index] as Appended;
        if (result.error === undefined) resolve(result);
        else reject(result.error);
      }
    } catch (error) {
      for (const { reject } of live) reject(error);
    }
    committing.delete(live);
    if (committing.size === 0) unanswered = 0;
  }

  /** Rejects expired deliveries. One timer serves all: one for each would cost as much as the delivery itself. */
  function expire(): void {
    expiry = undefined;
    const now = performance.now();
    for (const batch of [...committing, commits.waiting]) {
      for (const entry of batch) {
        if (entry.expiresAt > now) break;
        if (entry.expired) continue;
        entry.expired = true;
        entry.reject(tooSlow());
      }
    }
    if (committing.size > 0 || commits.waiting.length > 0) watch();
  }

  function watch(): void {
    if (expiry === undefined) expiry = setTimeout(expire, timeoutMs / CHECKS_PER_TIMEOUT);
  }

  /** Why nothing more may wait, if `waiting` items of `bytes` do; null if `added` bytes may. */
  function refusal(waiting: number, bytes: number, added: number, share: number): AppError | null {
    const reason = pausedBy();
    if (reason !== null)
      return new AppError("intake_paused", { reason, retryAfterSeconds: RETRY_AFTER_SECONDS[reason] });
    const isFull = waiting >= queueLimit * share || (bytes > 0 && bytes + added > queueBytes * share);
    return isFull ? new AppError("queue_full", { retryAfterSeconds: 1 }) : null;
  }

  return {
    append(event) {
      // An expired entry counts until its batch ends, so that memory stays bounded while the disk stalls.
      const refused = refusal(commits.waiting.length, heldBytes, event.payload.length, 1);
      if (refused) return Promise.reject(refused);
      heldBytes += event.payload.length;
      return new Promise((resolve, reject) => {
        watch();
        commits.add({ event, resolve, reject, expiresAt: performance.now() + timeoutMs, expired: false });
      });
    },
    async write(bytes, run) {
      const { count, bytes: otherBytes } = others;
      const refused = refusal(commits.waiting.length + count, heldBytes + otherBytes, bytes, SHARE_OF_OTHERS);
      if (refused) throw refused;
      others.count++;
      others.bytes += bytes;
      // It counts until it ends, also after the time-out.
      const running = run().finally(() => {
        others.count--;
        others.bytes -= bytes;
      });
      return timeout(timeoutMs, running, tooSlow);
    },
    get waiting() {
      return commits.waiting.length;
    },
    get unanswered() {
      return unanswered;
    },
    flush: commits.flush,
  };
}
