/**
 * Writes the stores of this version to `test/fixtures/stores`. Later versions must be able to upgrade them. Run it for
 * each release, and then `npm run format`: `npx tsx test/release/make-store.ts 0.2.0`.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import packageJson from "../../package.json" with { type: "json" };
import { emptyDatabase } from "../helpers/postgres.ts";
import { contentOf, fillStore, STORES, startWithRoutes } from "../helpers/released-stores.ts";
import { workingDir } from "../helpers/working-dir.ts";

const version = process.argv[2] ?? packageJson.version;
const file = (end: string) => join(STORES, `${version}.${end}`);
const closing: (() => void | Promise<void>)[] = [];

async function writeSqlite(): Promise<object> {
  const server = await startWithRoutes(workingDir());
  await fillStore(server);
  const content = await contentOf(server);
  await server.stop();
  const backup = join(server.dir, "backup.db");
  assert.equal((await server.run(["backup", backup])).code, 0);
  writeFileSync(file("db.gz"), gzipSync(readFileSync(backup), { level: 9 }));
  return content;
}

async function writePostgres(): Promise<object> {
  const url = await emptyDatabase({ after: (close) => void closing.push(close) });
  const server = await startWithRoutes(workingDir(), { DATABASE_URL: url });
  await fillStore(server);
  const content = await contentOf(server);
  await server.stop();
  // Without what only psql understands, and without what an older PostgreSQL does not know.
  const options = [
    "--schema=authserve",
    "--no-owner",
    "--no-privileges",
    "--no-comments",
    "--inserts",
    "--rows-per-insert=100",
  ];
  const dump = execFileSync("pg_dump", [...options, url], { encoding: "utf8" });
  const text = dump.replaceAll(`${hostname()} ${server.env.DATA_DIR}`, "host data");
  writeFileSync(file("sql"), text.replaceAll(/^(?:\\.*|--.*|SET transaction_timeout.*|)\n/gm, ""));
  return content;
}

const content = await writeSqlite();
assert.deepEqual(await writePostgres(), content);
writeFileSync(file("json"), `${JSON.stringify(content, null, 2)}\n`);
for (const close of closing) await close();
