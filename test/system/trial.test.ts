import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import { checkDatabase } from "../../src/cli/checks/disk.ts";
import { ask, assertProblem, deliver, event, notReady } from "../helpers/client.ts";
import { partOfTable } from "../helpers/part-of-table.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { list } from "../helpers/stored-events.ts";
import { until } from "../helpers/until.ts";

const dataDirOf = ({ dir }: Server) => join(dir, "data");

/** Runs statements as another program. */
function change(server: Server, statements: string): void {
  const database = new Sqlite(join(dataDirOf(server), "authserve.db"), { timeout: 10_000 });
  try {
    database.exec(statements);
  } finally {
    database.close();
  }
}

function tablesOf(server: Server): string[] {
  const database = new Sqlite(join(dataDirOf(server), "authserve.db"), { readonly: true });
  try {
    const names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    return database.prepare<[], string>(names).pluck().all();
  } finally {
    database.close();
  }
}

/** What doctor finds wrong in the database. */
function wrongIn(server: Server): string[] {
  const { findings } = checkDatabase(dataDirOf(server));
  return findings.filter(({ verdict }) => verdict === "wrong").map(({ found, remedy }) => `${found} → ${remedy}`);
}

/** Waits until these parts are not ready, and no other. */
async function partsAreDown(server: Server, wanted: readonly string[]): Promise<void> {
  await until(async () => {
    const answer = await ask(server, "/readyz");
    const parts = notReady(answer);
    assert.equal(answer.status, parts.length === 0 ? 200 : 503);
    return parts.join() === wanted.join();
  });
}

suite("a server is ready only if a delivery could be stored", { concurrency: true }, () => {
  test("each table that is gone makes its part not ready, and doctor names it", async () => {
    await using server = await startServer();
    await partsAreDown(server, []);
    const tables = tablesOf(server);
    assert.ok(tables.length > 25);
    for (const name of tables) {
      change(server, `ALTER TABLE ${name} RENAME TO moved_away`);
      await partsAreDown(server, [partOfTable(name)]);
      const wrong = wrongIn(server);
      assert.equal(wrong.length, 1, wrong.join("\n"));
      assert.match(
        wrong[0] ?? "",
        new RegExp(`^the table ${name} cannot be written \\(.*no such table.*\\) → stop the server`),
      );
      change(server, `ALTER TABLE moved_away RENAME TO ${name}`);
      await partsAreDown(server, []);
    }
    assert.deepEqual(wrongIn(server), []);
    assert.equal((await deliver(server, event("evt_1"))).status, 200);
    assert.equal((await list(server)).length, 1);
  });

  test("each table that refuses rows makes its part not ready, and doctor names it", async () => {
    await using server = await startServer();
    for (const name of tablesOf(server)) {
      const refuse = "BEGIN SELECT RAISE(ABORT, 'not on sundays'); END";
      change(server, `CREATE TRIGGER refuse BEFORE INSERT ON ${name} ${refuse}`);
      await partsAreDown(server, [partOfTable(name)]);
      const [wrong] = wrongIn(server);
      assert.match(wrong ?? "", new RegExp(`^the table ${name} cannot be written \\(.*not on sundays\\) → undo`));
      change(server, "DROP TRIGGER refuse");
      await partsAreDown(server, []);
    }
  });

  test("the command doctor exits 1 while a delivery is refused, also without a server", async () => {
    await using server = await startServer();
    change(server, "ALTER TABLE contents RENAME TO moved_away");
    assertProblem(await deliver(server, event("evt_1")), 503, "store_unavailable");
    const { code, stdout } = await server.run(["doctor"]);
    assert.equal(code, 1, stdout);
    assert.match(stdout, /wrong +writes +the table contents cannot be written \(.*\) → stop the server/);
    await server.stop();
    assert.match((await server.run(["doctor"])).stdout, /the table contents cannot be written/);
  });

  test("a lock that another program holds is named by the log and by doctor", async () => {
    await using server = await startServer();
    const other = new Sqlite(join(dataDirOf(server), "authserve.db"));
    other.exec("BEGIN IMMEDIATE");
    // Another write may wait for the lock before the trial does.
    await until(async () => {
      await ask(server, "/readyz");
      return server.log("not_ready").some(({ error }) => /another program holds its lock/.test(String(error)));
    });
    const { code, stdout } = await server.run(["doctor"]);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /wrong +writes +the database cannot be written \(another program holds its lock\) → end that program/,
    );
    other.exec("ROLLBACK");
    other.close();
    await partsAreDown(server, []);
  });
});
