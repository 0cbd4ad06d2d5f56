import type { EventStore, NewEvent } from "../../src/events/store.ts";

export const NOW = 1_800_000_000_000;

/** A new event that differs from the usual one in what the test is about. */
export function newEvent(changes: Partial<NewEvent> = {}): NewEvent {
  return {
    source: "default",
    eventId: "e-1",
    type: "push",
    bytesSha256: null,
    secret: 0,
    contentType: "application/json",
    payload: Buffer.from('{"a":1}'),
    address: "192.0.2.1",
    headers: '{"user-agent":"test"}',
    receivedAt: NOW,
    ...changes,
  };
}

/** Claims with the usual terms: owner `a`, a lease of 30 seconds, 5 attempts. */
export function claim(store: EventStore, changes: Partial<Parameters<EventStore["claim"]>[0]> = {}) {
  return store.claim({ owner: "a", limit: 10, leaseMs: 30_000, maxAttempts: 5, now: NOW, ...changes });
}

/** Claims the one event that is due. */
export async function claimOne(store: EventStore, changes: Partial<Parameters<EventStore["claim"]>[0]> = {}) {
  const { claimed } = await claim(store, changes);
  const [event] = claimed;
  if (event === undefined || claimed.length > 1) throw new Error(`${claimed.length} events were due instead of one`);
  return event;
}
