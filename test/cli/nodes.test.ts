import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../helpers/server.ts";

test("authserve nodes says that a data directory has one server", async () => {
  await using server = await startServer();
  const { code, stdout, stderr } = await server.run(["nodes"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /A DATA_DIR has one server\n {2}hint: set DATABASE_URL/);
});
