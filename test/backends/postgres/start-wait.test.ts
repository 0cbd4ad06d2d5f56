import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { needsPostgres } from "../../helpers/back-end.ts";
import { EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { settings } from "../../helpers/server.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

suite("a start while PostgreSQL is away", needsPostgres(), () => {
  test("waits for it, and says so", async (t) => {
    const postgres = await startPostgres(t);
    await postgres.createDatabase();
    await postgres.stop("immediate");
    const dir = workingDir();
    const env = settings(dir, { DATABASE_URL: postgres.url(), DATABASE_WAIT: "10m" });
    const { child, stdout, exited } = startProgram(EXECUTABLE, ["serve"], { dir, env });
    t.after(() => void child.kill("SIGKILL"));
    await until(() => stdout().includes("database_unavailable"));
    await postgres.restart();
    await until(() => stdout().includes("server_started"));
    child.kill();
    assert.deepEqual(await exited, { code: 0, signal: null });
  });

  test("ends with exit code 1 after DATABASE_WAIT", async (t) => {
    const postgres = await startPostgres(t);
    await postgres.stop("immediate");
    const dir = workingDir();
    const env = settings(dir, { DATABASE_URL: postgres.url(), DATABASE_WAIT: "2s" });
    const { stderr, exited } = startProgram(EXECUTABLE, ["serve"], { dir, env });
    assert.deepEqual(await exited, { code: 1, signal: null });
    assert.match(stderr(), /the database of DATABASE_URL cannot be used .* start PostgreSQL, or correct DATABASE_URL/s);
  });
});
