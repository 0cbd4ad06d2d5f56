import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { databaseOf, withBackup } from "../helpers/backup.ts";
import type { Finished } from "../helpers/command.ts";
import { flipBits } from "../helpers/damage.ts";

/** Runs a command on a damaged database, and asserts that the command changes no byte of it. */
async function runOnDamaged(command: string): Promise<Finished> {
  const { server } = await withBackup();
  await using _ = server;
  await server.stop();
  flipBits(databaseOf(server));
  const before = readFileSync(databaseOf(server));
  const finished = await server.run([command]);
  assert.ok(readFileSync(databaseOf(server)).equals(before));
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
