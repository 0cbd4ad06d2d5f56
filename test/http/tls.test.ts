import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createTlsFiles } from "../../src/http/tls.ts";
import { recordingLog } from "../helpers/log.ts";
import { pairNamed, shownName, use } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const dir = workingDir();
const served = { cert: join(dir, "served.crt"), key: join(dir, "served.key") };
const [first, second] = [pairNamed("first"), pairNamed("second")];

/** Starts a server with the first pair. `between` is called after the pair is read and before the watch begins. */
async function serveFirst(t: TestContext, between: () => void = () => {}) {
  use(served, first);
  const files = createTlsFiles(served.cert, served.key);
  const server = createServer(files.read());
  between();
  const { log, named } = recordingLog();
  t.after(files.watch(server, log));
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: (server.address() as AddressInfo).port, named };
}

test("a pair that changes after it is read, but before the watch begins, is reloaded", async (t) => {
  const { port, named } = await serveFirst(t, () => use(served, second));
  await until(async () => (await shownName(port)) === "second");
  assert.equal(named("tls_reloaded").length, 1);
});

test("a pair is reloaded once for each change of its files", async (t) => {
  const { port, named } = await serveFirst(t);
  assert.equal(await shownName(port), "first");
  use(served, second);
  await until(async () => (await shownName(port)) === "second");
  rmSync(served.key);
  await until(() => named("tls_reload_failed").length === 1);
  use(served, first);
  await until(async () => (await shownName(port)) === "first");
  assert.equal(named("tls_reloaded").length, 2);
  assert.equal(named("tls_reload_failed").length, 1);
});
