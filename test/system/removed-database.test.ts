import assert from "node:assert/strict";
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ask, assertProblem, deliver, event, tryLogin } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { list, settled } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

test("a server whose database was removed refuses deliveries and logins, is not ready, and starts again on another database", async () => {
  await using server = await startServer({ env: { LOG_LEVEL: "info" } });
  assert.equal((await deliver(server, event("before"))).status, 200);
  await settled(server, "before");
  for (const end of ["", "-wal", "-shm"]) rmSync(join(server.dir, "data", `authserve.db${end}`), { force: true });

  const refused = await deliver(server, event("after"));
  assertProblem(refused, 503, "store_unavailable");
  assert.equal(refused.headers.get("retry-after"), "5");
  assertProblem(await tryLogin(server), 503, "store_unavailable");
  assert.equal((await ask(server, "/readyz")).status, 503);
  assert.match(String((await server.logged("not_ready")).error), /DATA_DIR holds another database now, or none/);
  await server.stop();

  await using again = await startServer({ dir: server.dir });
  assert.equal((await deliver(again, event("after"))).json.duplicate, false);
  assert.deepEqual(
    (await list(again)).map(({ eventId }) => eventId),
    ["after"],
  );
});

test("every command refuses a database whose file was moved away from its log, until the file is back", async () => {
  await using server = await startServer();
  await deliver(server, event("before"));
  await settled(server, "before");
  await server.kill();
  const file = join(server.dir, "data", "authserve.db");
  renameSync(file, `${file}.moved`);

  for (const command of [["serve"], ["events", "list"], ["backup", "backup.db"]]) {
    const { code, stderr } = await server.run(command);
    assert.equal(code, 2, command.join(" "));
    assert.match(stderr, /authserve\.db-wal holds the newest events/);
  }
  const { code, stdout } = await server.run(["doctor", "--json"]);
  assert.equal(code, 1);
  assert.match(stdout, /authserve\.db-wal holds the newest events/);

  renameSync(`${file}.moved`, file);
  await using again = await startServer({ dir: server.dir });
  assert.equal((await deliver(again, event("before"))).json.duplicate, true);
});

test("a linked database counts as missing when the link is removed", async () => {
  const dir = workingDir();
  const link = join(dir, "data", "authserve.db");
  mkdirSync(dirname(link), { mode: 0o700 });
  symlinkSync(join(dir, "elsewhere.db"), link);
  await using server = await startServer({ dir });
  assert.equal((await deliver(server, event("before"))).status, 200);
  rmSync(link);
  assertProblem(await deliver(server, event("after")), 503, "store_unavailable");
  assert.equal((await ask(server, "/readyz")).status, 503);
});

test("a database that replaces the open one is not used", async () => {
  await using server = await startServer();
  const file = join(server.dir, "data", "authserve.db");
  cpSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  assertProblem(await deliver(server, event("after")), 503, "store_unavailable");
  assert.equal((await ask(server, "/readyz")).status, 503);
});

test("an attempt that ends while the database is moved away is recorded, and not repeated when it is back", async () => {
  await using target = await startTarget();
  const answers: ServerResponse[] = [];
  target.answer((_, response) => void answers.push(response));
  await using server = await startServer({ env: { FORWARD_URL: target.url } });
  await deliver(server, event("in-work"));
  await until(() => answers.length === 1);
  const data = join(server.dir, "data");
  renameSync(data, `${data}.away`);
  answers[0]?.writeHead(204).end();
  await settled(server, "in-work");
  assertProblem(await deliver(server, event("meanwhile")), 503, "store_unavailable");
  assert.equal((await server.stop()).code, 0);

  renameSync(`${data}.away`, data);
  await using again = await startServer({ dir: server.dir, env: { FORWARD_URL: target.url } });
  assert.deepEqual(
    (await list(again)).map(({ eventId, status, attempts }) => [eventId, status, attempts]),
    [["in-work", "processed", 1]],
  );
  assert.equal(target.received.length, 1);
});
