import type { ErrorCode } from "../../errors.ts";
import type { Appended } from "../../events/store.ts";
import { SHAPE_FAULTS } from "../../lib/json.ts";
import { timeout } from "../../lib/timeout.ts";
import type { Credential } from "../signature/secret.ts";
import type { Refusals, SourceCounts, SourceStore } from "./source-store.ts";

/** The codes whose reasons are few and say more than the code. */
const WITH_REASONS: readonly ErrorCode[] = ["signature_mismatch", "unsupported_media_type", "intake_paused"];

/** The reason under which a refused delivery is counted. */
export function countedReason(code: ErrorCode, reason?: string): string {
  const isNamed = WITH_REASONS.includes(code) || Object.hasOwn(SHAPE_FAULTS, reason ?? "");
  return (isNamed ? reason : undefined) ?? code;
}

/** Counts what the sources receive and refuse, and stores the sums from time to time. */
interface SourceCounter {
  /** Counts a delivery that a secret has verified, and its result. `at` is in Unix milliseconds. */
  received(source: string, secret: Credential, at: number, appended: Appended): void;
  /** Counts a refused delivery. */
  refused(source: string, reason: string): void;
  /**
   * Stores what is left, and nothing later, for a server that stops. It takes two seconds at most, and never rejects.
   */
  flush(): Promise<void>;
}

interface CounterOptions {
  /** How long after the first change the sums are stored. */
  delayMs?: number;
  /** Called once for an outage of the store. The sums are kept, and stored with the next ones. */
  onError(error: unknown): void;
  now?: () => number;
}

/** What was counted for a source since the last write. */
interface Sums extends Omit<SourceCounts, "source" | "refusals" | "secrets"> {
  refusals: Record<string, number>;
  /** The last use of each secret, by name. */
  secrets: Map<string, LastUse>;
}

type LastUse = Pick<SourceCounts["secrets"][number], "mark" | "lastUsedAt">;

// After a failed write. A store that is down is not asked more often.
const RETRY_MS = 1000;

// A flush does not wait longer for a store that does not answer, e.g. on a stalled disk.
const FLUSH_TIMEOUT_MS = 2000;

/** Creates a counter. It counts in memory, because a write for each delivery would double the writes of a source. */
export function createSourceCounter(
  store: Pick<SourceStore, "add">,
  { delayMs = 200, onError, now = Date.now }: CounterOptions,
): SourceCounter {
  let sums = new Map<string, Sums>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isEnding = false;
  let isFailing = false;

  function tellFailure(error: unknown): void {
    if (!isFailing) onError(error);
    isFailing = true;
  }

  function schedule(afterMs: number): void {
    if (sums.size === 0 || timer !== undefined || writing !== undefined || isEnding) return;
    timer = setTimeout(() => {
      timer = undefined;
      void write();
    }, afterMs).unref();
  }

  function sumsOf(source: string): Sums {
    const known = sums.get(source);
    if (known !== undefined) return known;
    const added: Sums = {
      received: 0,
      duplicates: 0,
      conflicts: 0,
      repeats: 0,
      refused: 0,
      refusals: {},
      lastReceivedAt: null,
      secrets: new Map(),
    };
    sums.set(source, added);
    schedule(delayMs);
    return added;
  }

  /** Stores the sums. A failed write gives them back. */
  function write(): Promise<void> {
    const taken = sums;
    sums = new Map();
    writing = store.add(countsOf(taken), now()).then(
      () => {
        isFailing = false;
        end(delayMs);
      },
      (error) => {
        for (const [source, earlier] of taken) merge(sumsOf(source), earlier);
        tellFailure(error);
        end(Math.max(delayMs, RETRY_MS));
      },
    );
    return writing;
  }

  function end(afterMs: number): void {
    writing = undefined;
    schedule(afterMs);
  }

  async function writeRest(): Promise<void> {
    await writing;
    if (sums.size > 0) await write();
  }

  return {
    received(source, secret, at, { duplicate, conflict, repeat }) {
      const found = sumsOf(source);
      found.received++;
      if (conflict) found.conflicts++;
      else if (repeat) found.repeats++;
      else if (duplicate) found.duplicates++;
      receivedAt(found, at);
      useSecret(found, secret.name, { mark: secret.mark, lastUsedAt: at });
    },
    refused(source, reason) {
      const found = sumsOf(source);
      found.refused++;
      addRefusals(found, { [reason]: 1 });
    },
    flush() {
      isEnding = true;
      clearTimeout(timer);
      timer = undefined;
      return timeout(FLUSH_TIMEOUT_MS, writeRest(), () => new Error("the store does not answer")).catch(tellFailure);
    },
  };
}

function receivedAt(sums: Sums, at: number): void {
  if (sums.lastReceivedAt === null || at > sums.lastReceivedAt) sums.lastReceivedAt = at;
}

function addRefusals({ refusals }: Sums, more: Refusals): void {
  for (const [reason, number] of Object.entries(more)) refusals[reason] = (refusals[reason] ?? 0) + number;
}

function useSecret({ secrets }: Sums, name: string, use: LastUse): void {
  const known = secrets.get(name);
  if (known === undefined || use.lastUsedAt > known.lastUsedAt) secrets.set(name, use);
}

/** Adds earlier sums to later ones. */
function merge(later: Sums, earlier: Sums): void {
  later.received += earlier.received;
  later.duplicates += earlier.duplicates;
  later.conflicts += earlier.conflicts;
  later.repeats += earlier.repeats;
  later.refused += earlier.refused;
  addRefusals(later, earlier.refusals);
  if (earlier.lastReceivedAt !== null) receivedAt(later, earlier.lastReceivedAt);
  for (const [name, use] of earlier.secrets) useSecret(later, name, use);
}

function countsOf(sums: Map<string, Sums>): SourceCounts[] {
  return [...sums].map(([source, { secrets, ...counts }]) => ({
    source,
    ...counts,
    secrets: [...secrets].map(([name, use]) => ({ name, ...use })),
  }));
}
