import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import Sqlite from "better-sqlite3";
import { ask, deliver, event, notReady } from "../helpers/client.ts";
import { overwrite } from "../helpers/damage.ts";
import { startServer } from "../helpers/server.ts";
import { list, settled } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";

test("an event with a changed byte on the disk is not delivered but reported, and the others are delivered", async () => {
  await using target = await startTarget();
  target.answer((_, response) => void response.writeHead(503).end());
  const env = { FORWARD_URL: target.url, RETRY_DELAY: "1h", RETRY_ATTEMPTS: "3" };
  await using first = await startServer({ env });
  for (const id of ["evt_1", "evt_2", "evt_3"]) await deliver(first, event(id, { note: `the bytes of ${id}` }));
  for (const id of ["evt_1", "evt_2", "evt_3"]) await settled(first, id, "event_retried");
  await first.stop();
  const file = join(first.dir, "data/authserve.db");
  new Sqlite(file).exec("UPDATE jobs SET due_at = 0").close();
  overwrite(file, "the bytes of evt_2", "the Bytes of evt_2");

  target.answer((_, response) => void response.writeHead(204).end());
  await using server = await startServer({ dir: first.dir, env });
  await settled(server, "evt_1");
  await settled(server, "evt_3");
  const { eventId, error } = await server.logged("event_unreadable");
  assert.deepEqual(
    [eventId, error],
    ["evt_2", "the database is damaged: the stored bytes do not match their checksum"],
  );
  assert.equal(target.of("evt_2").length, 1);
  assert.deepEqual(
    (await list(server)).map((listed) => [listed.eventId, listed.status]),
    [
      ["evt_3", "processed"],
      ["evt_2", "failed"],
      ["evt_1", "processed"],
    ],
  );

  const ready = await ask(server, "/readyz");
  assert.deepEqual([ready.status, notReady(ready)], [503, ["events"]]);
  assert.match(String((await server.logged("not_ready")).error), /1 job has an event that cannot be read/);
  const { code, stdout } = await server.run(["doctor"]);
  assert.equal(code, 1);
  assert.match(stdout, /^wrong +database +the events of 1 job cannot be read/m);
  assert.match((await ask(server, "/metrics")).text, /^authserve_events_unreadable 1$/m);
  assert.equal((await deliver(server, event("evt_4"))).status, 200);
  assert.equal(server.log("event_unreadable").length, 1);
});
