import type { Backlog } from "../../events/store.ts";
import { type DiskSpace, leastFreeBytes } from "../../lib/files.ts";
import { orUnknown } from "../../lib/timeout.ts";
import type { Log } from "../../log.ts";

/** Why deliveries are paused: little free disk space, or an old event in the queue. */
export type PauseReason = "disk_low" | "queue_old";

const REASONS: readonly PauseReason[] = ["disk_low", "queue_old"];

// Other marks end a pause, so that a value around a mark does not pause and resume deliveries every second.
const RESUME_FREE = 1.25;
const RESUME_AGE = 0.8;

/** Whether too little disk space is free. `disk` is null if it is unknown, which changes nothing. */
export function isDiskLow(wasLow: boolean, disk: DiskSpace | null, minFreeBytes: number | undefined): boolean {
  if (disk === null) return wasLow;
  const mark = leastFreeBytes(minFreeBytes, disk.sizeBytes);
  return disk.freeBytes < (wasLow ? mark * RESUME_FREE : mark);
}

type OldestQueued = Pick<Backlog, "oldestQueuedAt">;

/** Whether the oldest queued event is too old. `oldest` is null if it is unknown, which changes nothing. */
export function isQueueOld(wasOld: boolean, oldest: OldestQueued | null, now: number, maxAgeMs: number): boolean {
  if (oldest === null) return wasOld;
  if (oldest.oldestQueuedAt === null) return false;
  const ageMs = now - oldest.oldestQueuedAt;
  return wasOld ? ageMs >= maxAgeMs * RESUME_AGE : ageMs > maxAgeMs;
}

/** Pauses deliveries before the disk is full or while the queue is too old, and resumes them. */
export interface Admission {
  /** Why deliveries are paused; null if they are not. */
  pausedBy(): PauseReason | null;
  readonly paused: Readonly<Record<PauseReason, boolean>>;
  /** Free disk space. Infinity if it has no limit, null if it is unknown. */
  readonly freeBytes: number | null;
  /** Below this free space deliveries are refused. Null if the size of the disk is unknown. */
  readonly minFreeBytes: number | null;
  /** Rejects with the reasons while deliveries are paused. */
  requireOpen(): Promise<void>;
  /** Checks once. What does not answer within a second is unknown. */
  check(): Promise<void>;
  /** Checks now, and every second from now on. */
  start(): Promise<void>;
  stop(): void;
}

/** The marks of an admission, and how it measures. */
export interface AdmissionOptions {
  /** Least free disk space. By default it depends on the size of the disk; 0 is no mark. */
  minFreeBytes: number | undefined;
  /** Highest age of the oldest queued event. Without it the queue is not read. */
  maxQueueAgeMs: number | undefined;
  readSpace(): Promise<DiskSpace>;
  readBacklog(): Promise<OldestQueued>;
  log: Log;
  now(): number;
}

const INTERVAL_MS = 1000;

/** Creates an admission. Deliveries are accepted until its first check. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { minFreeBytes, maxQueueAgeMs, log, now } = options;
  const readSpace = orUnknown(options.readSpace);
  const readBacklog = orUnknown(options.readBacklog);
  const paused = { disk_low: false, queue_old: false };
  let freeBytes: number | null = null;
  let leastFree: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  function setPaused(reason: PauseReason, isPaused: boolean, figures: object | null): void {
    if (isPaused === paused[reason]) return;
    paused[reason] = isPaused;
    if (isPaused) log.warn({ event: "intake_paused", reason, ...figures }, PAUSED[reason]);
    else log.info({ event: "intake_resumed", reason }, RESUMED[reason]);
  }

  async function checkDisk(): Promise<void> {
    const disk = await readSpace();
    freeBytes = disk?.freeBytes ?? null;
    leastFree = disk && leastFreeBytes(minFreeBytes, disk.sizeBytes);
    const figures = disk && { freeBytes, minFreeBytes: leastFree };
    setPaused("disk_low", isDiskLow(paused.disk_low, disk, minFreeBytes), figures);
  }

  async function checkQueue(): Promise<void> {
    if (maxQueueAgeMs === undefined) return;
    const oldest = await readBacklog();
    const at = now();
    const ageMs = at - (oldest?.oldestQueuedAt ?? at);
    const figures = { oldestQueuedSeconds: Math.floor(ageMs / 1000), maxQueueAgeSeconds: maxQueueAgeMs / 1000 };
    setPaused("queue_old", isQueueOld(paused.queue_old, oldest, at, maxQueueAgeMs), figures);
  }

  async function check(): Promise<void> {
    await Promise.all([checkDisk(), checkQueue()]);
  }

  return {
    pausedBy: () => REASONS.find((reason) => paused[reason]) ?? null,
    paused,
    get freeBytes() {
      return freeBytes;
    },
    get minFreeBytes() {
      return leastFree;
    },
    async requireOpen() {
      const reasons = REASONS.filter((reason) => paused[reason]);
      if (reasons.length > 0) throw new Error(reasons.map((reason) => PAUSED[reason]).join("; "));
    },
    check,
    start() {
      timer = setInterval(check, INTERVAL_MS);
      return check();
    },
    stop: () => clearInterval(timer),
  };
}

const PAUSED: Record<PauseReason, string> = {
  disk_low: "deliveries are paused: make space on the disk of DATA_DIR, or lower MIN_FREE_DISK",
  queue_old: "deliveries are paused: find the cause with authserve events list --status queued, or raise MAX_QUEUE_AGE",
};

const RESUMED: Record<PauseReason, string> = {
  disk_low: "enough disk space is free again",
  queue_old: "the oldest queued event is young enough again",
};
