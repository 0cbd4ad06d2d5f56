import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import Sqlite from "better-sqlite3";
import { deliver, event } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { settled } from "../helpers/stored-events.ts";

test("a server whose newest event is ahead of its clock says so at the start", async () => {
  await using server = await startServer();
  await deliver(server, event("a"));
  await settled(server, "a");
  assert.equal((await server.stop()).code, 0);
  const database = new Sqlite(join(server.dir, "data", "authserve.db"));
  database.exec("UPDATE events SET received_at = received_at + 3600000").close();
  await using again = await startServer({ dir: server.dir });
  assert.match(
    String((await again.logged("clock_warning")).message),
    /is before the newest event at .*: set the clock/,
  );
});
