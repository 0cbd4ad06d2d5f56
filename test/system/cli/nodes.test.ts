import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { authserve } from "../../helpers/command.ts";
import { settings } from "../../helpers/server.ts";
import { workingDir } from "../../helpers/working-dir.ts";

test("authserve nodes says that a data directory has one server", async () => {
  const dir = workingDir();
  openDatabase(join(dir, "data")).close();
  const { code, stdout, stderr } = await authserve(["nodes"], { dir, env: settings(dir) });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /A DATA_DIR has one server\n {2}hint: set DATABASE_URL/);
});
