import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readSettings } from "../../src/config/settings.ts";
import { openCatchUps } from "../../src/serve/catch-up.ts";
import type { Wiring } from "../../src/serve/configuration.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { read } from "../helpers/config-file.ts";
import { tempDatabase } from "../helpers/database.ts";
import { recordingLog } from "../helpers/log.ts";

/** An API of GitHub that lists nothing, or does not answer. */
async function startApi(t: TestContext, answers: boolean) {
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    if (answers) response.setHeader("content-type", "application/json").end("[]");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entry = `{ token: env:SECRET, hook: "${host}/repos/o/r/hooks/1", host: "${host}", every: 1m }`;
  return { entry, asked: () => asked };
}

test("a source whose provider does not answer keeps no other from its turns", async (t) => {
  const [slow, fast] = [await startApi(t, false), await startApi(t, true)];
  const current = read(`sources:
  slow: { preset: github, secrets: [env:SECRET], catchUp: ${slow.entry} }
  fast: { preset: github, secrets: [env:OTHER], catchUp: ${fast.entry} }
`);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1_800_000_000_000;
  const stores = { ...localStores(tempDatabase(t).database), now: () => now };
  const wiring = { settings: readSettings({}, []), config: { current }, stores, log: recordingLog().log };
  const catchUps = openCatchUps(wiring as unknown as Wiring, async () => true);
  await catchUps.start?.();
  t.after(() => catchUps.stop?.(0));

  /** Passes the time of a turn, and waits until the fast provider was asked in it. */
  async function turn(afterMs: number): Promise<void> {
    const before = fast.asked();
    now += 120_000;
    t.mock.timers.tick(afterMs);
    for (let waited = 0; fast.asked() === before || catchUps.isRunning("fast"); waited++) {
      assert.ok(waited < 1_000_000, "the fast provider was not asked");
      await nextTurn();
    }
  }
  await turn(5000);
  assert.equal(slow.asked(), 1);
  await turn(30_000);
});
