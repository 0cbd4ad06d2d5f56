import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { EventStore } from "../../../src/events/store.ts";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { EXECUTABLE, runProgram } from "../../helpers/command.ts";
import { claim, claimOf, newEvent } from "../../helpers/events.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const HOUR = 3_600_000;

/** A directory with two failed events, a processed one and a queued one. No server runs. */
async function stored() {
  const dir = workingDir();
  const database = openDatabase(join(dir, "data"));
  const { events } = localStores(database);
  const now = Date.now();
  await events.append([
    newEvent({ eventId: "old", type: "invoice.paid", receivedAt: now - 2 * HOUR, payload: Buffer.from("cus_1") }),
    newEvent({ eventId: "new", type: "invoice.sent", receivedAt: now, payload: Buffer.from("cus_2") }),
    newEvent({ eventId: "done", receivedAt: now, payload: Buffer.from("cus_12") }),
    newEvent({ eventId: "waits", receivedAt: now }),
  ]);
  for (const job of (await claim(events, { now })).claimed) {
    const { eventId } = job;
    const error = eventId === "done" ? null : "the target answered 500";
    const failed = { to: "failed", reason: "no" } as const;
    const next =
      { done: { to: "processed" } as const, waits: { to: "queued", runAt: now } as const }[eventId] ?? failed;
    await events.settle([{ ...claimOf(job), next, startedAt: now, finishedAt: now, error }]);
  }
  return { dir, events, close: () => database.close() };
}

async function run(dir: string, ...args: string[]) {
  const { code, stdout, stderr } = await runProgram(EXECUTABLE, ["events", ...args], {
    dir,
    env: { DATA_DIR: join(dir, "data") },
  });
  return { code, stderr, json: stdout === "" ? null : JSON.parse(stdout) };
}

const statusOf = async (events: EventStore, eventId: string) => (await events.get(eventId))[0]?.status;

suite("many events", () => {
  test("are counted by each filter, without a change", async () => {
    const { dir, events, close } = await stored();
    for (const [filter, matched] of [
      [["--dead-letter"], 2],
      [["--type", "invoice.paid"], 1],
      [["--source", "default"], 2],
      [["--route", "default"], 2],
      [["--since", "1h"], 1],
      [["--until", "1h"], 1],
      [["--error", "ANSWERED 500"], 2],
      [["--error", "timed out"], 0],
      [["--dead-letter", "--type", "invoice.sent", "--since", "1h"], 1],
    ] as const) {
      const { json } = await run(dir, "replay", ...filter, "--dry-run", "--json");
      assert.deepEqual(json, { matched }, filter.join(" "));
    }
    assert.equal((await events.backlog()).failed, 2);
    close();
  });

  test("of an unknown source or route are an error that names the nearest one", async () => {
    const { dir, close } = await stored();
    for (const [filter, expected] of [
      [["--route", "defaul"], 'error: There is no route "defaul"\n  hint: did you mean default?'],
      [["--source", "other"], 'error: There is no source "other"\n  hint: see authserve sources list'],
    ] as const) {
      const { code, stderr } = await run(dir, "replay", ...filter);
      assert.deepEqual([code, stderr], [2, `${expected}\n`]);
    }
    close();
  });

  test("are replayed by the beginning of their ids, if only one id begins so", async () => {
    const { dir, close } = await stored();
    const short = await run(dir, "replay", "wai", "--json");
    assert.equal(short.json.refused[0].reason, "there is no such event");
    const { code, json, stderr } = await run(dir, "discard", "wait", "--reason", "old", "--json");
    assert.deepEqual([code, json, stderr], [0, { discarded: 1, refused: [] }, "wait is waits.\n"]);
    close();
  });

  test("are replayed by a filter", async () => {
    const { dir, events, close } = await stored();
    for (const [filter, replayed, left] of [
      [["--type", "invoice.sent", "--since", "1h"], 1, 1],
      [["--dead-letter"], 1, 0],
    ] as const) {
      const { code, json } = await run(dir, "replay", ...filter, "--json");
      assert.deepEqual([code, json], [0, { replayed, refused: [] }]);
      assert.equal((await events.backlog()).failed, left);
    }
    close();
  });

  test("are discarded with a reason, and those that wait only with --status queued", async () => {
    const { dir, events, close } = await stored();
    const discard = ["discard", "--route", "default", "--reason", " old ", "--json"];
    assert.deepEqual((await run(dir, ...discard, "--dry-run")).json, { matched: 2 });
    assert.deepEqual((await run(dir, ...discard)).json, { discarded: 2, refused: [] });
    assert.equal((await events.get("old"))[0]?.jobs[0]?.discarded?.reason, "old");
    assert.equal(await statusOf(events, "waits"), "queued");
    assert.deepEqual((await run(dir, ...discard, "--status", "queued")).json, { discarded: 1, refused: [] });
    assert.equal(await statusOf(events, "waits"), "discarded");
    close();
  });

  test("are replayed at a rate", async () => {
    const { dir, close } = await stored();
    const startedAt = performance.now();
    assert.equal((await run(dir, "replay", "--dead-letter", "--rate", "1/s", "--json")).json.replayed, 2);
    assert.ok(performance.now() - startedAt > 1000);
    close();
  });

  test("are refused with the option that is wrong", async () => {
    const { dir, close } = await stored();
    for (const [args, names] of [
      [["replay"], /--dead-letter/],
      [["replay", "old", "--type", "x"], /--type cannot be used with event ids/],
      [["replay", "old", "--dry-run"], /--dry-run cannot be used with event ids/],
      [["replay", "--type", "x", "--force"], /--force/],
      [["replay", "--dead-letter", "--rate", "fast"], /--rate/],
      [["replay", "--dead-letter", "--cursor", "x"], /--cursor/],
      [["replay", "--since", "yesterday"], /--since/],
      [["discard", "--reason", "no"], /--dead-letter/],
      [["discard", "--dead-letter"], /--reason/],
    ] as const) {
      const { code, stderr, json } = await run(dir, ...args);
      assert.deepEqual([code, json], [2, null], args.join(" "));
      assert.match(stderr, names);
    }
    close();
  });
});

suite("events list --search", () => {
  test("finds events by a part of their payload", async () => {
    const { dir, close } = await stored();
    const found = async (...args: string[]) =>
      (await run(dir, "list", ...args, "--json")).json.map(({ eventId }: { eventId: string }) => eventId);
    assert.deepEqual(await found("--search", "cus_1"), ["done", "old"]);
    assert.deepEqual(await found("--search", "cus_1", "--status", "failed"), ["old"]);
    assert.deepEqual(await found("--search", "cus_3"), []);
    assert.equal((await run(dir, "list", "--search", "")).code, 2);
    close();
  });
});

suite("events prune", () => {
  test("counts, then removes what the configuration file does not keep, and needs no secrets of it", async () => {
    const { dir, events, close } = await stored();
    const sources = "sources:\n  shop: { preset: github, secrets: [env:NOT_SET] }\n";
    writeFileSync(join(dir, "authserve.yaml"), `${sources}retention: { processed: 0s, failed: 90d, ids: 0s }\n`);
    const bytes = "cus_12".length + newEvent().headers.length;
    const { json: counted } = await run(dir, "prune", "--dry-run", "--json");
    assert.deepEqual(counted, { events: 1, ids: 1, bytes });
    assert.equal(await statusOf(events, "done"), "processed");
    const { json: removed } = await run(dir, "prune", "--json");
    assert.deepEqual(removed, counted);
    assert.equal(await statusOf(events, "done"), undefined);
    assert.equal(await statusOf(events, "old"), "failed");
    const { code, stderr } = await run(dir, "prune");
    assert.deepEqual([code, stderr], [0, "Removed 0 events (0.0 MB) and 0 ids.\n"]);
    close();
  });

  test("refuses a wrong retention with its place", async () => {
    const { dir, events, close } = await stored();
    writeFileSync(join(dir, "authserve.yaml"), "retention: { processed: soon }\n");
    const { code, stderr } = await run(dir, "prune");
    assert.equal(code, 2);
    assert.match(stderr, /authserve\.yaml:1:\d+ retention\.processed: found "soon", expected a duration/);
    assert.equal((await events.backlog()).processed, 1);
    close();
  });
});
