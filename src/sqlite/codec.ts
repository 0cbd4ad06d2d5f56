import type { Transferable } from "node:worker_threads";
import type { Outcome, Stats } from "../events/stats.ts";
import type { NewEvent } from "../events/store.ts";

/**
 * A batch of events as it is sent to the storage thread. All payloads are in one buffer, which is transferred.
 * A payload from a socket is a slice of a 64 KiB slab; posting the slice would clone the whole slab.
 */
export interface PackedEvents {
  /** {@link TEXTS_PER_EVENT} for each event. */
  texts: string[];
  /** {@link NUMBERS_PER_EVENT} for each event. */
  numbers: Float64Array;
  payloads: Uint8Array;
}

const TEXTS_PER_EVENT = 8;
const NUMBERS_PER_EVENT = 3;

/** Packs a batch. Payloads are copied, so the batch stays usable. `transfer` is the transfer list of the message. */
export function packEvents(batch: readonly NewEvent[]): { packed: PackedEvents; transfer: Transferable[] } {
  let size = 0;
  for (const { payload } of batch) size += payload.length;
  const payloads = new Uint8Array(size);
  const numbers = new Float64Array(batch.length * NUMBERS_PER_EVENT);
  const texts: string[] = [];
  let offset = 0;
  for (const [index, event] of batch.entries()) {
    const { source, eventId, type, bytesSha256, secret, contentType, address, headers } = event;
    texts.push(source, eventId, type, bytesSha256 ?? "", secret, contentType, address, headers);
    const at = index * NUMBERS_PER_EVENT;
    numbers[at] = event.receivedAt;
    numbers[at + 1] = event.payload.length;
    numbers[at + 2] = event.sameWithinMs ?? Number.NaN;
    payloads.set(event.payload, offset);
    offset += event.payload.length;
  }
  return { packed: { texts, numbers, payloads }, transfer: [payloads.buffer, numbers.buffer] as Transferable[] };
}

/** Unpacks a batch in its order. Payloads are views of the shared buffer. */
export function unpackEvents({ texts, numbers, payloads }: PackedEvents): NewEvent[] {
  const batch: NewEvent[] = [];
  let offset = 0;
  for (let index = 0; index < numbers.length / NUMBERS_PER_EVENT; index++) {
    const [source, eventId, type, bytesSha256, secret, contentType, address, headers] = texts.slice(
      index * TEXTS_PER_EVENT,
      (index + 1) * TEXTS_PER_EVENT,
    ) as [string, string, string, string, string, string, string, string];
    const at = index * NUMBERS_PER_EVENT;
    const bytes = numbers[at + 1] as number;
    const sameWithinMs = numbers[at + 2] as number;
    const payload = payloads.subarray(offset, offset + bytes);
    batch.push({
      source,
      eventId,
      type,
      bytesSha256: bytesSha256 === "" ? null : bytesSha256,
      sameWithinMs: Number.isNaN(sameWithinMs) ? null : sameWithinMs,
      secret,
      contentType,
      address,
      headers,
      payload,
      receivedAt: numbers[at] as number,
    });
    offset += bytes;
  }
  return batch;
}

/**
 * Points of statistics as they are sent from the reading thread. Thousands of objects would take longer to send than to
 * read.
 */
interface PackedPoints {
  times: number[];
  outcomes: Outcome[];
  slots: number[];
  counts: number[];
}

/** Packs points into columns. */
export function packPoints(points: Stats["points"]): PackedPoints {
  return {
    times: points.map(({ at }) => at),
    outcomes: points.map(({ outcome }) => outcome),
    slots: points.map(({ slot }) => slot),
    counts: points.map(({ count }) => count),
  };
}

/** Unpacks points in their order. */
export function unpackPoints({ times, outcomes, slots, counts }: PackedPoints): Stats["points"] {
  return times.map((at, index) => ({
    at,
    outcome: outcomes[index] as Outcome,
    slot: slots[index] as number,
    count: counts[index] as number,
  }));
}
