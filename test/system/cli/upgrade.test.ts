import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import packageJson from "../../../package.json" with { type: "json" };
import { databaseFile, openDatabase } from "../../../src/sqlite/database.ts";
import { APPLICATION_ID } from "../../../src/sqlite/maintenance/inspect.ts";
import { RECORD_STEPS, SCHEMA, stepsFrom } from "../../../src/sqlite/schema.ts";
import { authserve } from "../../helpers/command.ts";
import { settings, startServer } from "../../helpers/server.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const OLD_SCHEMA = 15;

async function check(dir: string): Promise<{ code: number | null; text: string; json: Record<string, unknown> }> {
  const options = { dir, env: settings(dir) };
  const { code, stdout } = await authserve(["upgrade", "check"], options);
  const json = await authserve(["upgrade", "check", "--json"], options);
  assert.equal(json.code, code);
  return { code, text: stdout, json: JSON.parse(json.stdout) };
}

/** A folder whose database has the schema of an older version. */
function oldStore(): { dir: string; file: string } {
  const dir = workingDir();
  mkdirSync(join(dir, "data"), { mode: 0o700 });
  const file = databaseFile(join(dir, "data"));
  const old = new Sqlite(file);
  old.exec(stepsFrom(0)[0] ?? "");
  old.pragma(`application_id = ${APPLICATION_ID}`);
  old.pragma(`user_version = ${OLD_SCHEMA}`);
  old.close();
  return { dir, file };
}

const schemaIn = (file: string) => new Sqlite(file, { readonly: true }).pragma("user_version", { simple: true });

suite("authserve upgrade check", () => {
  test("says that a first start creates the database", async () => {
    const { code, text, json } = await check(workingDir());
    assert.equal(code, 0);
    assert.match(text, /^ok +schema +none yet: the first start creates it$/m);
    const { findings: _, ...facts } = json;
    assert.deepEqual(facts, {
      version: packageJson.version,
      store: "sqlite",
      schema: 0,
      newestSchema: SCHEMA,
      steps: 0,
      backupAdvised: false,
    });
  });

  test("says that the start changes nothing, and that the server that runs has to stop", async () => {
    await using server = await startServer();
    const { code, text } = await check(server.dir);
    assert.equal(code, 0, text);
    assert.match(text, /^ok +schema +\d+, the current one: the start changes nothing$/m);
    assert.match(text, /^ok +servers +one runs: it has to stop before this version starts/m);
  });

  test("counts the steps that an older database lacks, advises a backup, and takes none of them", async () => {
    const { dir, file } = oldStore();
    const { code, text, json } = await check(dir);
    assert.equal(code, 0, text);
    assert.match(
      text,
      new RegExp(
        `^warning +schema +the next start, .* takes ${SCHEMA - 15} steps from 15 to ${SCHEMA}.* → make a backup first: authserve`,
        "m",
      ),
    );
    assert.deepEqual([json.schema, json.steps, json.backupAdvised], [OLD_SCHEMA, SCHEMA - OLD_SCHEMA, true]);
    assert.equal(schemaIn(file), OLD_SCHEMA);
  });

  test("exits 1 for a database of a newer version, and names that version", async () => {
    const dir = workingDir();
    const database = openDatabase(join(dir, "data"));
    database.prepare(RECORD_STEPS).run('["one 0.2.0", "two 9.1.0"]');
    database.pragma("user_version = 999");
    database.close();
    const { code, text, json } = await check(dir);
    assert.equal(code, 1);
    assert.match(text, /^wrong +schema +the database has schema 999 .* → run authserve 9\.1\.0 or newer$/m);
    assert.deepEqual([json.schema, json.steps, json.backupAdvised], [999, 0, false]);
  });

  test("exits 1 for another program's database", async () => {
    const { dir, file } = oldStore();
    new Sqlite(file).exec("PRAGMA application_id = 1").close();
    const { code, text, json } = await check(dir);
    assert.equal(code, 1);
    assert.match(text, /^wrong +schema +the database belongs to another program/m);
    assert.equal(json.schema, null);
  });

  test("exits 1 for a key that this version does not know, and names a misspelt setting", async () => {
    const { dir } = oldStore();
    writeFileSync(join(dir, "authserve.yaml"), "gone:\n  key: 1\n");
    writeFileSync(join(dir, ".env"), "RETRY_ATTEMPT=3\n", { mode: 0o600 });
    const { code, text } = await check(dir);
    assert.equal(code, 1);
    assert.match(text, /^wrong +file +authserve\.yaml:1.*gone/m);
    assert.match(text, /^warning +settings +RETRY_ATTEMPT in \.env is not a setting/m);
  });
});

test("a backup of an older database leaves it as it is, and the older version can restore it", async () => {
  const { dir, file } = oldStore();
  const backup = join(dir, "backup.db");
  const { code, stderr } = await authserve(["backup", backup], { dir, env: settings(dir) });
  assert.equal(code, 0, stderr);
  assert.deepEqual([schemaIn(file), schemaIn(backup)], [OLD_SCHEMA, OLD_SCHEMA]);
});

test("doctor leaves an older database as it is", async () => {
  const { dir, file } = oldStore();
  const { stdout } = await authserve(["doctor"], { dir, env: settings(dir) });
  assert.match(stdout, new RegExp(`^warning +schema +15, older than ${SCHEMA} → the next start migrates it$`, "m"));
  assert.equal(schemaIn(file), OLD_SCHEMA);
});
