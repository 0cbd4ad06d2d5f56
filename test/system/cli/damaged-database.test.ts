import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { authserve, type Finished } from "../../helpers/command.ts";
import { flipBits } from "../../helpers/damage.ts";
import { newEvent } from "../../helpers/events.ts";
import { settings } from "../../helpers/server.ts";
import { workingDir } from "../../helpers/working-dir.ts";

/** Runs a command on a damaged database, and asserts that the command changes no byte of it. */
async function runOnDamaged(command: string): Promise<Finished> {
  const dir = workingDir();
  const database = openDatabase(join(dir, "data"));
  const events = Array.from({ length: 20 }, (_, n) => newEvent({ eventId: `evt_${n}` }));
  await localStores(database).events.append(events);
  database.close();
  const file = join(dir, "data/authserve.db");
  flipBits(file);
  const before = readFileSync(file);
  const finished = await authserve([command], { dir, env: settings(dir) });
  assert.ok(readFileSync(file).equals(before));
  return finished;
}

suite("a damaged database", () => {
  test("serve reports the damage, exits 2 and changes no byte", async () => {
    const { code, stderr } = await runOnDamaged("serve");
    assert.equal(code, 2);
    assert.match(stderr, /authserve\.db is damaged .*authserve restore/);
  });

  test("doctor reports the damage, exits 1 and changes no byte", async () => {
    const { code, stdout } = await runOnDamaged("doctor");
    assert.equal(code, 1);
    assert.match(stdout, /^wrong +database /m);
  });
});
