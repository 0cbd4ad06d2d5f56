import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { readSettings } from "../../src/config/settings.ts";
import { OperatorError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { type RunningServer, serve } from "../../src/serve.ts";
import { ask, deliver, event, logIn } from "../helpers/client.ts";
import { settings } from "../helpers/server.ts";
import { watchThreads } from "../helpers/threads.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const FRESH = { Connection: "close" };

interface Served {
  server: RunningServer;
  storage: Worker;
  http: Worker[];
  /** What was written, a line or more at a time. */
  lines: string[];
}

/** Serves in this process with two HTTP threads. */
async function serveHere(t: TestContext): Promise<Served> {
  const threads = watchThreads(t);
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  const environment = settings(workingDir(), { HTTP_THREADS: "2" });
  const server = await serve(readSettings(environment), createLog("info", output), output);
  // The storage thread is started first; before it tsx may have started one of its own.
  const [storage, ...http] = threads.slice(-3);
  assert.ok(storage);
  return { server, storage, http, lines };
}

test("after the storage thread died every HTTP thread writes through the new one", async (t) => {
  const { server, storage, lines } = await serveHere(t);
  t.after(() => server.stop());
  assert.equal((await deliver(server, event("before"))).status, 200);
  await storage.terminate();
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => deliver(server, event(`meanwhile-${n}`), FRESH)),
  );
  for (const { status, json } of answers) {
    assert.ok(status === 200 || (status === 503 && json.code === "store_unavailable"), String(status));
  }
  // A row of them on fresh connections meets both threads.
  let recovered = 0;
  await until(async () => {
    const { status } = await deliver(server, event(`after-${recovered}`), FRESH);
    recovered = status === 200 ? recovered + 1 : 0;
    return recovered === 20;
  });
  assert.equal((await deliver(server, event("before"), FRESH)).json.duplicate, true);
  await logIn(server);
  assert.ok(lines.some((line) => line.includes("storage_thread_died")));
});

test("the lines of all threads come out whole through one output", async (t) => {
  const { server, lines } = await serveHere(t);
  await Promise.all(Array.from({ length: 20 }, () => ask(server, "/nowhere", { headers: FRESH })));
  await server.stop();
  const written = lines.join("").trimEnd().split("\n");
  const logged = written.map((line) => JSON.parse(line) as { thread?: number; event: string });
  assert.equal(logged.filter(({ event: name, thread }) => name === "request_completed" && thread).length, 20);
});

test("when an HTTP thread has died the server says so, and its stop closes everything and fails", async (t) => {
  const { server, storage, http } = await serveHere(t);
  await http[1]?.terminate();
  await server.failed;
  await assert.rejects(server.stop(), (error) => error instanceof OperatorError && error.exitCode === 1);
  // A closed thread has no id any more.
  assert.deepEqual(
    [storage, ...http].map(({ threadId }) => threadId),
    [-1, -1, -1],
  );
});
