import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { authserve } from "../helpers/command.ts";
import { assertUpgraded, RELEASED_VERSIONS, STORES, startWithRoutes } from "../helpers/released-stores.ts";
import { settings } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";

const storeOf = (version: string) => gunzipSync(readFileSync(join(STORES, `${version}.db.gz`)));

test("every release has a store", () => {
  const changelog = readFileSync(join(import.meta.dirname, "../../CHANGELOG.md"), "utf8");
  const released = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version = ""]) => version);
  assert.deepEqual(
    released.filter((version) => !RELEASED_VERSIONS.includes(version)),
    [],
  );
});

suite("the SQLite store of a released version", () => {
  for (const version of RELEASED_VERSIONS) {
    test(`${version} is upgraded by a start, with all that is in it`, async () => {
      const dir = workingDir();
      mkdirSync(join(dir, "data"), { mode: 0o700 });
      writeFileSync(join(dir, "data/authserve.db"), storeOf(version), { mode: 0o600 });
      const checked = await authserve(["upgrade", "check"], { dir, env: settings(dir) });
      assert.equal(checked.code, 0, checked.stdout);
      await using server = await startWithRoutes(dir);
      await assertUpgraded(server, version);
      assert.equal((await server.run(["backup", join(dir, "upgraded.db")])).code, 0);
    });

    test(`${version} is upgraded after its backup was restored`, async () => {
      const dir = workingDir();
      const backup = join(dir, "backup.db");
      writeFileSync(backup, storeOf(version), { mode: 0o600 });
      const restored = await authserve(["restore", backup], { dir, env: settings(dir) });
      assert.equal(restored.code, 0, restored.stderr);
      await using server = await startWithRoutes(dir);
      await assertUpgraded(server, version);
    });
  }
});
