import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { ask, deliver, event } from "../helpers/client.ts";
import { type Server, serveRefused, startServer } from "../helpers/server.ts";
import { list } from "../helpers/stored-events.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SENDERS = 12;

/** Delivers on fresh connections until the server is gone, and adds the ids that were acknowledged. */
async function deliverUntilGone(server: Server, prefix: string, acknowledged: Set<string>): Promise<void> {
  for (let n = 0; ; n++) {
    const id = `${prefix}-${n}`;
    const answer = await deliver(server, event(id), { Connection: "close" }).catch(() => null);
    if (answer === null) return;
    assert.equal(answer.status, 200, answer.text);
    acknowledged.add(id);
  }
}

/** Puts a server under load, ends it, and returns what it had acknowledged and not stored. */
async function lostWhenEnded(server: Server, end: () => void): Promise<string[]> {
  const acknowledged = new Set<string>();
  const senders = Array.from({ length: SENDERS }, (_, n) => deliverUntilGone(server, `s${n}`, acknowledged));
  await until(() => acknowledged.size >= 100);
  end();
  await Promise.all([server.exited, ...senders]);
  const stored = new Set((await list(server, "--limit", "999999")).map(({ eventId }) => eventId));
  return [...acknowledged].filter((id) => !stored.has(id));
}

test("SIGTERM under load ends all HTTP threads with exit code 0 and loses nothing that was acknowledged", async () => {
  await using server = await startServer({ env: { HTTP_THREADS: "3" } });
  assert.deepEqual(await lostWhenEnded(server, () => server.signal("SIGTERM")), []);
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  assert.equal(server.log().at(-1)?.event, "server_stopped");
  assert.equal(server.stderr(), "");
});

test("an HTTP thread that dies is named in the log, and the process ends with exit code 1 and loses nothing", async () => {
  const dir = workingDir();
  const [preload, crash] = [join(dir, "crash.mjs"), join(dir, "crash")];
  writeFileSync(
    preload,
    `import { existsSync } from "node:fs";
     import { workerData } from "node:worker_threads";
     const look = () => { if (existsSync(${JSON.stringify(crash)})) throw new Error("for the test"); };
     if (workerData?.thread === 2) setInterval(look, 10).unref();`,
  );
  await using server = await startServer({
    dir,
    env: { HTTP_THREADS: "3", NODE_OPTIONS: `--import=${pathToFileURL(preload)}` },
  });
  assert.deepEqual(await lostWhenEnded(server, () => writeFileSync(crash, "")), []);
  assert.deepEqual(await server.exited, { code: 1, signal: null });
  const died = server.log("http_thread_died");
  assert.deepEqual(
    died.map(({ thread, error }) => ({ thread, error })),
    [{ thread: 2, error: "for the test" }],
  );
  assert.match(server.stderr(), /An HTTP thread died: what was acknowledged is on disk/);
});

test("a port that another program has is refused as with one thread", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = other.address() as { port: number };
    const refused = await serveRefused({ PORT: String(port), HTTP_THREADS: "2" });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, new RegExp(`PORT ${port} is in use.*set another PORT`));
  } finally {
    other.close();
  }
});

test("two servers do not share a port, although the threads of one do", async () => {
  await using first = await startServer({ env: { HTTP_THREADS: "2" } });
  for (const HTTP_THREADS of ["1", "2"]) {
    const refused = await serveRefused({ PORT: String(first.port), HTTP_THREADS });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, new RegExp(`PORT ${first.port} is in use`));
  }
  assert.equal((await ask(first, "/readyz")).status, 200);
});

test("a certificate that cannot be read is refused as with one thread", async () => {
  const files = { TLS_CERT_FILE: "/nowhere.crt", TLS_KEY_FILE: "/nowhere.key" };
  const refused = await serveRefused({ HTTP_THREADS: "2", ...files });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /TLS_CERT_FILE cannot be read/);
});
