import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { databaseOf, withBackup } from "../helpers/backup.ts";
import { flipBits } from "../helpers/damage.ts";

suite("a damaged database", () => {
  test("serve names the damage, exits 2 and changes no byte", async () => {
    const { server } = await withBackup();
    await using _ = server;
    await server.stop();
    flipBits(databaseOf(server));
    const before = readFileSync(databaseOf(server));
    const { code, stderr } = await server.run(["serve"]);
    assert.equal(code, 2);
    assert.match(stderr, /authserve\.db is damaged .*authserve restore/);
    assert.ok(readFileSync(databaseOf(server)).equals(before));
  });

  test("doctor names the damage, exits 1 and changes no byte", async () => {
    const { server } = await withBackup();
    await using _ = server;
    await server.stop();
    flipBits(databaseOf(server));
    const before = readFileSync(databaseOf(server));
    const { code, stdout } = await server.run(["doctor"]);
    assert.equal(code, 1);
    assert.match(stdout, /^wrong +database /m);
    assert.ok(readFileSync(databaseOf(server)).equals(before));
  });
});
