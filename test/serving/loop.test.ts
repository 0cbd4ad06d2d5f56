import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createEmbeddedSessionStore } from "../../src/auth/sessions/embedded.ts";
import { readSettings } from "../../src/config/settings.ts";
import { createSqliteEventStore } from "../../src/events/sqlite/store.ts";
import { createHttpLoop } from "../../src/serving/loop.ts";
import { createSignals } from "../../src/serving/signals.ts";
import { EMAIL, JWT_SECRET, PASSWORD_HASH, WEBHOOK_SECRET } from "../helpers/credentials.ts";
import { tempDatabase } from "../helpers/database.ts";
import { recordingLog } from "../helpers/log.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";
import { work } from "../helpers/work.ts";

test("deliveries that wait hold the worker back while the event loop is busy, not while it waits for the disk", async (t) => {
  const { database, dataDir } = tempDatabase(t);
  const unanswered: number[] = [];
  const loop = createHttpLoop({
    settings: readSettings({
      DATA_DIR: dataDir,
      JWT_SECRET,
      DEMO_EMAIL: EMAIL,
      DEMO_PASSWORD: PASSWORD_HASH,
      WEBHOOK_SECRET,
      PORT: "0",
    }),
    log: recordingLog().log,
    events: createSqliteEventStore(database),
    sessions: createEmbeddedSessionStore(database),
    shared: {
      login: () => Promise.reject(new Error("nobody logs in")),
      renderMetrics: () => Promise.reject(new Error("nobody asks")),
      onStored: () => {},
    },
    signals: { ...createSignals(1), noteUnanswered: (_loop, count) => unanswered.push(count) },
    loop: 1,
  });
  t.after(() => loop.stop(1000));
  const port = await loop.listen(0);
  const deliver = async (id: string) => {
    const body = JSON.stringify({ id, type: "push" });
    const headers = { "content-type": "application/json", "x-signature": signature(body) };
    const { status } = await fetch(`http://127.0.0.1:${port}/webhook`, { method: "POST", headers, body });
    assert.equal(status, 200);
  };

  // A machine that is held up makes the loop look as if it had been at work, and at rest while it was not.
  await until(async () => {
    await delay(300);
    await deliver("e-1");
    return unanswered.at(-1) === 0;
  });
  await until(async () => {
    work(300);
    await deliver("e-2");
    return unanswered.at(-1) === 1;
  });
});
