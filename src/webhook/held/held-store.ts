/** A delivery that was refused for its signature, without credentials (see held-credentials.ts). */
export interface HeldDelivery {
  source: string;
  reason: string;
  method: string;
  /** Scheme and host as the sender wrote them. */
  origin: string;
  /** The request target, without what no signature covers. A secret in it is a digest. */
  target: string;
  /** The headers that events keep and those that verify it: a JSON object. A token or password is a digest. */
  headers: string;
  mediaType: string;
  address: string;
  /** Unix milliseconds. */
  receivedAt: number;
  body: Uint8Array;
}

/** How much is kept of a source. The oldest is removed first. */
export interface HeldBounds {
  count: number;
  bytes: number;
  forMs: number;
}

/** How much is kept of a source with `keepRejected` unless it says otherwise. */
export const DEFAULT_HELD_BOUNDS: HeldBounds = { count: 1000, bytes: 64 * 1024 ** 2, forMs: 7 * 86_400_000 };

/** How long what is held of a source is kept once the source does not keep refused deliveries any more, or is gone. */
export const LEFT_HELD_BOUNDS: HeldBounds = {
  ...DEFAULT_HELD_BOUNDS,
  count: Number.MAX_SAFE_INTEGER,
  bytes: Number.MAX_SAFE_INTEGER,
};

/** A held delivery in a list. Numbers grow in order of arrival. */
export interface HeldSummary extends Pick<HeldDelivery, "source" | "reason" | "mediaType" | "address" | "receivedAt"> {
  id: number;
  bytes: number;
}

/** How many of the oldest deliveries of a source are compared with its bounds at once. */
export const MAX_COMPARED_HELD = 100;

/** One of the oldest deliveries of a source, with the number and the bytes of all that are held of the source. */
export interface OldHeld extends Pick<HeldSummary, "id" | "receivedAt" | "bytes"> {
  allCount: number;
  allBytes: number;
}

/** Those of the oldest deliveries of a source, in order, that are beyond its bounds. */
export function beyondBounds(oldest: readonly OldHeld[], bounds: HeldBounds, now: number): OldHeld[] {
  let bytesBefore = 0;
  const kept = oldest.findIndex(({ allCount, allBytes, receivedAt, bytes }, index) => {
    const isOver =
      allCount - index > bounds.count || allBytes - bytesBefore > bounds.bytes || receivedAt < now - bounds.forMs;
    bytesBefore += bytes;
    return !isOver;
  });
  return oldest.slice(0, kept === -1 ? oldest.length : kept);
}

/** Selects held deliveries after one, in order of arrival. */
interface HeldFilter {
  source?: string;
  /** Unix milliseconds: received at or after. */
  since?: number;
  after?: number;
  limit: number;
}

/** Keeps refused deliveries. Each method is one transaction. */
export interface HeldStore {
  /** Keeps deliveries, each within the bounds of its source. */
  hold(batch: { delivery: HeldDelivery; bounds: HeldBounds }[]): Promise<void>;
  /** Removes what is beyond the bounds of a source. `now` is in Unix milliseconds. */
  trim(source: string, bounds: HeldBounds, now: number): Promise<void>;
  /** The sources of which deliveries are held, configured or not. */
  sources(): Promise<string[]>;
  list(filter: HeldFilter): Promise<HeldSummary[]>;
  /** The first of these deliveries, as many as fit into one answer; at least one. */
  read(ids: number[]): Promise<(HeldDelivery & { id: number })[]>;
  remove(ids: number[]): Promise<void>;
}

/** Reads deliveries in the order of their ids, in parts that fit into memory. */
export async function* readInParts(
  store: Pick<HeldStore, "read">,
  ids: readonly number[],
): AsyncGenerator<(HeldDelivery & { id: number })[]> {
  for (let left = [...new Set(ids)].sort((a, b) => a - b); left.length > 0; ) {
    const part = await store.read(left);
    const last = part.at(-1)?.id;
    if (last === undefined) return;
    yield part;
    left = left.filter((id) => id > last);
  }
}
