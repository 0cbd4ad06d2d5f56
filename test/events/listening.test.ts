import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { watchArrivals } from "../../src/events/arrival-watch.ts";
import { beginListening, hear } from "../../src/events/listening.ts";
import { typeList } from "../../src/events/type-list.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { tempDatabase } from "../helpers/database.ts";
import { NOW, newEvent } from "../helpers/events.ts";
import { HANG_MS } from "../helpers/until.ts";

const NEVER = new AbortController().signal;
const idsOf = ({ events }: Awaited<ReturnType<typeof hear>>) => events.map(({ eventId }) => eventId);

suite("a listener of a store", () => {
  test("goes on behind the last event that it knew, if the store has lost events", async (t) => {
    const lost = localStores(tempDatabase(t).database).events;
    await lost.append(["a", "b", "c", "d"].map((eventId, nth) => newEvent({ eventId, receivedAt: NOW + nth })));
    const { cursor } = await hear(lost, await beginListening(lost, 0, NOW), {}, 10);
    const restored = localStores(tempDatabase(t).database).events;
    await restored.append([newEvent({ eventId: "a" }), newEvent({ eventId: "after", receivedAt: NOW + 60_000 })]);
    const heard = await hear(restored, cursor, {}, 10);
    assert.deepEqual([idsOf(heard), heard.isReset], [["after"], true]);
    const next = await hear(restored, heard.cursor, {}, 10);
    assert.deepEqual([idsOf(next), next.isReset], [[], false]);
  });

  test("hears an event that cannot be read, without its content", async (t) => {
    const { database } = tempDatabase(t);
    const { events } = localStores(database);
    await events.append([newEvent()]);
    database.exec("UPDATE contents SET payload_crc32 = payload_crc32 + 1");
    const { events: heard } = await hear(events, await beginListening(events, 0, NOW), { takes: () => false }, 10);
    assert.deepEqual([heard[0]?.eventId, heard[0]?.content], ["e-1", null]);
  });

  test("waits behind events that it does not hear, and reads none of them again", async (t) => {
    const { events } = localStores(tempDatabase(t).database);
    const watch = watchArrivals(events);
    t.after(watch.stop);
    const begin = await beginListening(events, null, NOW);
    const waits = ["push", "pull"].map((type) => watch.wait(begin, { takesType: typeList(type) }, HANG_MS, NEVER));
    await events.append([newEvent({ eventId: "a", type: "other" }), newEvent({ eventId: "b", type: "pull" })]);
    const pulled = await waits[1];
    assert.deepEqual(idsOf(await hear(events, pulled ?? "", {}, 10)), ["b"]);
    await events.append([newEvent({ eventId: "c", type: "push" })]);
    assert.deepEqual(idsOf(await hear(events, (await waits[0]) ?? "", {}, 10)), ["c"]);
  });
});
