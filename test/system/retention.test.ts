import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { needsMount } from "../helpers/back-end.ts";
import { type Answer, ask, assertProblem, deliver, event } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { mountDisk } from "../helpers/small-disk.ts";
import { list, settled } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

test("old events are removed when the retention is shortened, and late duplicates of them are not processed", async () => {
  await using target = await startTarget();
  const dir = workingDir();
  const config = join(dir, "authserve.yaml");
  writeFileSync(config, "retention: { processed: 1h }\n");
  await using server = await startServer({ dir, env: { FORWARD_URL: target.url } });
  await deliver(server, event("old"));
  await settled(server, "old");
  writeFileSync(config, "retention: { processed: 0s }\n");
  const { events, ids } = await server.logged("events_purged");
  assert.deepEqual([events, ids], [1, 0]);
  assert.deepEqual(await list(server), []);
  const answer = await deliver(server, event("old"));
  assert.deepEqual([answer.status, answer.json.duplicate], [200, true]);
  await deliver(server, event("new"));
  await until(() => target.of("new").length === 1);
  assert.equal(target.of("old").length, 1);
  const { text } = await ask(server, "/metrics");
  assert.match(text, /^authserve_purged_events_total [12]$/m);
  assert.match(text, /^authserve_event_ids 2$/m);
  assert.match(text, /^authserve_last_purge_timestamp_seconds 1[0-9.]+$/m);
});

const AT_ONCE = 4;
const PAD = "x".repeat(800_000);

test("a full disk empties itself by retention, and deliveries are accepted again", needsMount(), async (t) => {
  await using target = await startTarget();
  const dir = workingDir();
  mountDisk(t, join(dir, "data"), "24m");
  writeFileSync(join(dir, "authserve.yaml"), "retention: { processed: 3s, ids: 3s }\n");
  await using server = await startServer({ dir, env: { FORWARD_URL: target.url } });
  const accepted: string[] = [];
  let sent = 0;

  /** Delivers large events until the answer is as wanted. */
  function deliverUntil(isWanted: (answer: Answer) => boolean): Promise<Answer> {
    return until(async () => {
      // Several at once: a slow machine must fill the disk sooner than the retention frees it.
      const ids = Array.from({ length: AT_ONCE }, () => `e-${sent++}`);
      const answers = await Promise.all(ids.map((id) => deliver(server, event(id, { pad: PAD }))));
      accepted.push(...ids.filter((_, n) => answers[n]?.status === 200));
      return answers.find(isWanted) ?? null;
    });
  }

  for (let round = 0; round < 5; round++) {
    const refused = await deliverUntil(({ status }) => status !== 200);
    // Before the disk is low enough for a pause, it may have no room for a delivery as large as these.
    assertProblem(refused, 503, refused.json.code === "intake_paused" ? "intake_paused" : "store_unavailable");
    await deliverUntil(({ status }) => status === 200);
  }
  await until(async () => (await ask(server, "/readyz")).status === 200);
  await until(() => accepted.every((id) => target.of(id).length === 1));
  await until(async () => /^authserve_event_ids 1$/m.test((await ask(server, "/metrics")).text));
  assert.equal((await server.stop()).code, 0);
});
