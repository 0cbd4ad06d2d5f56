import assert from "node:assert/strict";
import { suite, test } from "node:test";
import packageJson from "../../../package.json" with { type: "json" };
import { createPostgresNodeStore } from "../../../src/postgres/nodes.ts";
import { SCHEMA } from "../../../src/postgres/schema.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { authserve } from "../../helpers/command.ts";
import { tempPostgres } from "../../helpers/postgres.ts";
import { settings } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import { workingDir } from "../../helpers/working-dir.ts";

async function check(url: string): Promise<{ code: number | null; text: string; json: Record<string, unknown> }> {
  const dir = workingDir();
  const options = { dir, env: settings(dir, { ...PATIENT, DATABASE_URL: url }) };
  const { code, stdout } = await authserve(["upgrade", "check"], options);
  const json = await authserve(["upgrade", "check", "--json"], options);
  assert.equal(json.code, code);
  return { code, text: stdout, json: JSON.parse(json.stdout) };
}

suite("authserve upgrade check on PostgreSQL", needsPostgres(), () => {
  test("counts the steps that an older database lacks, and takes none of them, and neither does doctor", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await postgres.run(
      "DROP TABLE authserve.repeats, authserve.source_refusals, authserve.machine_tokens, authserve.unavailable_routes",
    );
    await postgres.run("UPDATE authserve.schema_version SET version = 1");
    await postgres.run("DELETE FROM authserve.metadata");
    const { code, text, json } = await check(url);
    assert.equal(code, 0, text);
    assert.match(text, /^warning +schema +the next start, .* → make a backup first: pg_dump/m);
    assert.ok(text.includes(` takes ${SCHEMA - 1} steps from 1 to ${SCHEMA}`), text);
    const { findings: _, ...facts } = json;
    assert.deepEqual(facts, {
      version: packageJson.version,
      store: "postgresql",
      schema: 1,
      newestSchema: SCHEMA,
      steps: SCHEMA - 1,
      backupAdvised: true,
    });
    const dir = workingDir();
    await authserve(["doctor"], { dir, env: settings(dir, { ...PATIENT, DATABASE_URL: url }) });
    assert.deepEqual(await postgres.rows("SELECT version FROM authserve.schema_version"), [{ version: 1 }]);
  });

  test("exits 1, as a start does, while a server runs that is not of a neighbouring version", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const nodes = createPostgresNodeStore(postgres);
    /** Adds a server that is alive for longer than this test. */
    async function beat(id: string, version: string): Promise<void> {
      const node = { id, host: id, url: "http://127.0.0.1", version };
      await nodes.beat({ node, dueAt: Date.now(), clock: Date.now() });
      await postgres.run("UPDATE authserve.nodes SET seen_at = seen_at + 3600000 WHERE id = $1", [id]);
    }
    await beat("same", packageJson.version);
    const beside = await check(url);
    assert.equal(beside.code, 0, beside.text);
    assert.match(beside.text, /^ok +servers +same .*may run beside this version$/m);
    await beat("far", "9.9.0");
    const { code, text } = await check(url);
    assert.equal(code, 1);
    assert.match(text, /^wrong +servers +far .* runs 9\.9\.0, which is not a neighbour/m);
    const dir = workingDir();
    const start = await authserve(["serve"], { dir, env: settings(dir, { ...PATIENT, DATABASE_URL: url }) });
    assert.deepEqual([start.code, start.stdout.includes("server_started")], [1, false]);
    assert.match(start.stderr, /far .* runs 9\.9\.0, which is not a neighbour .* stop it first/s);
  });
});
