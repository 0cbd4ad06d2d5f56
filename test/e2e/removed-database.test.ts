import assert from "node:assert/strict";
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ask, assertProblem, deliver, event } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { list, settled } from "../helpers/stored-events.ts";

test("a server whose database was removed takes nothing more in, says so, and starts again on another", async () => {
  await using server = await startServer({ env: { LOG_LEVEL: "info" } });
  assert.equal((await deliver(server, event("before"))).status, 200);
  await settled(server, "before");
  for (const end of ["", "-wal", "-shm"]) rmSync(join(server.dir, "data", `authserve.db${end}`), { force: true });

  const refused = await deliver(server, event("after"));
  assertProblem(refused, 503, "store_unavailable");
  assert.equal(refused.headers.get("retry-after"), "5");
  assert.equal((await ask(server, "/readyz")).status, 503);
  assert.match(String((await server.logged("not_ready")).error), /DATA_DIR holds another database now, or none/);
  await server.stop();

  await using again = await startServer({ dir: server.dir });
  assert.equal((await deliver(again, event("after"))).json.duplicate, false);
  assert.deepEqual(
    (await list(again)).map(({ eventId }) => eventId),
    ["after"],
  );
});

test("a database that was put in the place of the one in use is not taken for it", async () => {
  await using server = await startServer();
  const file = join(server.dir, "data", "authserve.db");
  cpSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  assertProblem(await deliver(server, event("after")), 503, "store_unavailable");
  assert.equal((await ask(server, "/readyz")).status, 503);
});
