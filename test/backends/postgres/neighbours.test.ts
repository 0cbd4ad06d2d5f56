import assert from "node:assert/strict";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import packageJson from "../../../package.json" with { type: "json" };
import { needsPostgres } from "../../helpers/back-end.ts";
import { authserve } from "../../helpers/command.ts";
import { tempPostgres } from "../../helpers/postgres.ts";
import { startLoad } from "../../helpers/postgres-load.ts";
import { startServer } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const ROOT = join(import.meta.dirname, "../../..");
const NEXT = packageJson.version.replace(/\d+$/, "99");

/** What a later version of the same minor version may do to the schema: add, and change nothing. */
const ADDITIVE_STEP = `\`
  ALTER TABLE authserve.events ADD COLUMN added_to_events text;
  ALTER TABLE authserve.contents ADD COLUMN added_to_contents bigint NOT NULL DEFAULT 0;
  ALTER TABLE authserve.jobs ADD COLUMN added_to_jobs text;
  ALTER TABLE authserve.attempts ADD COLUMN added_to_attempts text;
  ALTER TABLE authserve.tally ADD COLUMN added_to_tally bigint NOT NULL DEFAULT 0;
  ALTER TABLE authserve.nodes ADD COLUMN added_to_nodes text;
  CREATE TABLE authserve.added (id bigint PRIMARY KEY);
  \`,
];`;

const BOTH_PROCESS = "SELECT count(DISTINCT lease_owner) > 1 AS both FROM authserve.jobs";

/** A copy of the source with a later version and one more step of the schema. Returns its program. */
function laterVersion(): string {
  const copy = workingDir();
  for (const name of ["src", "bin", "package.json", "package-lock.json", "tsconfig.json"]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  edit(join(copy, "package.json"), /"version": "[^"]*"/, `"version": "${NEXT}"`);
  edit(join(copy, "src/postgres/schema.ts"), /^\];$/m, ADDITIVE_STEP);
  return join(copy, "bin/authserve");
}

function edit(file: string, found: RegExp, text: string): void {
  const before = readFileSync(file, "utf8");
  assert.match(before, found);
  writeFileSync(
    file,
    before.replace(found, () => text),
  );
}

suite("servers of neighbouring versions on one PostgreSQL database", needsPostgres(), () => {
  test("work side by side while the newer one adds to the schema, and lose and repeat nothing", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const load = await startLoad(t, { url });
    await load.acknowledged(200);
    const program = laterVersion();
    const { DATABASE_URL, FORWARD_URL } = load.server.env;
    await using newer = await startServer({ program, env: { ...PATIENT, DATABASE_URL, FORWARD_URL } });
    load.alsoTo(newer);
    await load.acknowledged(500);
    const versions = await postgres.rows("SELECT version FROM authserve.nodes ORDER BY version");
    assert.equal(versions.length, 2);
    assert.deepEqual(versions[1], { version: NEXT });
    await until(async () => {
      const [row] = await postgres.rows<{ both: boolean }>(BOTH_PROCESS);
      return row?.both === true;
    });
    await load.isComplete();
    for (const server of [load.server, newer]) {
      const failures = server.log().filter(({ level }) => level === "error");
      assert.deepEqual(failures, []);
    }

    const restarted = await authserve(["serve"], { dir: workingDir(), env: load.server.env });
    assert.notEqual(restarted.code, 0);
    assert.match(restarted.stderr, new RegExp(`run authserve ${NEXT.replaceAll(".", "\\.")} or newer`));
  });
});
