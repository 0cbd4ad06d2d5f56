import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { suite, test } from "node:test";
import { bringsOtherId, decideTaken, isWithin, type SameBytes, type StoredEvent } from "../../src/events/dedupe.ts";
import { DIGEST_PREFIX } from "../../src/events/event.ts";
import { NOW, newEvent } from "../helpers/events.ts";

const PAYLOAD = Buffer.from('{"a":1}');
const DIGEST = hash("sha256", PAYLOAD);
const signed = newEvent({ payload: PAYLOAD });
const unsigned = newEvent({ payload: PAYLOAD, bytesSha256: DIGEST });
const storedAs = (bytesSha256: string | null, hasSameBytes: boolean | null): StoredEvent => ({
  id: 7,
  bytesSha256,
  hasSameBytes,
});
const same: SameBytes = { id: 8, eventId: "e-0", receivedAt: NOW };

suite("a delivery whose id is taken", () => {
  for (const [title, event, stored, bytes, expected] of [
    [
      "with a signed id and the same bytes is a duplicate",
      signed,
      storedAs(null, true),
      undefined,
      { is: "duplicate" },
    ],
    [
      "with a signed id and other bytes is a conflict",
      signed,
      storedAs(null, false),
      undefined,
      { is: "conflict", with: 7 },
    ],
    [
      "with a signed id is a duplicate when the bytes are removed",
      signed,
      storedAs(null, null),
      undefined,
      { is: "duplicate" },
    ],
    ["is a duplicate when the event is gone meanwhile", signed, undefined, undefined, { is: "duplicate" }],
    ["is new beside an unsigned event with other bytes", signed, storedAs("00", false), undefined, { is: "new bytes" }],
    [
      "is a duplicate of an unsigned event with its digest",
      signed,
      storedAs(DIGEST, null),
      undefined,
      { is: "duplicate" },
    ],
    [
      "without a signed id is a duplicate of what has its bytes",
      unsigned,
      undefined,
      same,
      { is: "duplicate", of: same },
    ],
    ["without a signed id is new if nothing has its bytes", unsigned, undefined, undefined, { is: "new bytes" }],
  ] as const)
    test(title, () => assert.deepEqual(decideTaken(event, stored, bytes), expected));
});

test("the same bytes are a duplicate until the time has passed, and never with 0", () => {
  const after = (ms: number, withinMs: number) => isWithin(newEvent({ receivedAt: NOW + ms }), same, withinMs);
  assert.deepEqual([after(999, 1000), after(1000, 1000), after(0, 0)], [true, false, false]);
});

test("a repeat brings an id of its own", () => {
  for (const [changes, storedId, expected] of [
    [{ eventId: "e-1" }, "e-1", false],
    [{ eventId: "e-2" }, "e-1", true],
    [{ eventId: DIGEST_PREFIX + DIGEST, bytesSha256: DIGEST }, "e-1", false],
    [{ eventId: "e-1", sameWithinMs: 1000 }, "e-1~2", false],
    [{ eventId: "e-1", sameWithinMs: null }, "e-1~2", true],
    [{ eventId: "e-1", sameWithinMs: 1000 }, "e-1~x", true],
  ] as const)
    assert.equal(bringsOtherId(newEvent(changes), storedId), expected, `${JSON.stringify(changes)} after ${storedId}`);
});
