import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deliver, event } from "../../helpers/client.ts";
import { startServer } from "../../helpers/server.ts";
import { list, settled, show, stats } from "../../helpers/stored-events.ts";
import { startTarget } from "../../helpers/target.ts";
import { until } from "../../helpers/until.ts";

const target = await startTarget();
target.answer(
  ({ headers }, response) => void response.writeHead(headers["x-event-type"] === "fails" ? 500 : 200).end(),
);
const server = await startServer({
  env: { FORWARD_URL: target.url, RETRY_ATTEMPTS: "1", WORKER_POLL_INTERVAL: "50ms" },
});
after(() => server[Symbol.asyncDispose]());
after(() => target[Symbol.asyncDispose]());

await deliver(server, event("first", { type: "order.paid" }));
await settled(server, "first");
await deliver(server, event("second", { type: "fails" }));
await settled(server, "second", "event_dead_lettered");
const startedThird = new Date().toISOString();
await deliver(server, event("third", { type: "user.created" }));
await settled(server, "third");

const JOB_KEYS = [
  "route",
  "status",
  "attempts",
  "nextAttemptAt",
  "leased",
  "orderingKey",
  "lastError",
  "deadLetter",
  "replays",
  "probes",
  "budget",
  "waits",
  "discarded",
  "history",
];
const KEYS = ["source", "eventId", "type", "status", "attempts", "receivedAt", "processedAt", "lastError"];
const ISO = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/;

test("list --json prints one array, newest first, with the documented members, order and types", async () => {
  const { code, stdout, stderr } = await server.run(["events", "list", "--json"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const found = JSON.parse(stdout) as Record<string, unknown>[];
  assert.deepEqual(
    found.map((one) => one.eventId),
    ["third", "second", "first"],
  );
  for (const one of found) assert.deepEqual(Object.keys(one), KEYS);
  const [third, second] = found;
  assert.match(String(third?.receivedAt), ISO);
  assert.match(String(third?.processedAt), ISO);
  assert.deepEqual(
    { ...third, receivedAt: "", processedAt: "" },
    {
      source: "default",
      eventId: "third",
      type: "user.created",
      status: "processed",
      attempts: 1,
      receivedAt: "",
      processedAt: "",
      lastError: null,
    },
  );
  assert.deepEqual([second?.status, second?.processedAt, typeof second?.lastError], ["failed", null, "string"]);
});

test("list prints a table with one line for each event", async () => {
  const { code, stdout } = await server.run(["events", "list"]);
  assert.equal(code, 0);
  const [headings = "", ...lines] = stdout.trimEnd().split("\n");
  assert.match(headings, /^RECEIVED +STATUS +ATTEMPTS +TYPE +EVENT ID +LAST ERROR$/);
  assert.equal(lines.length, 3);
  const column = headings.indexOf("EVENT ID");
  assert.deepEqual(
    lines.map((line) => line.slice(column).split(" ")[0]),
    ["third", "second", "first"],
  );
});

test("list shows only events that match its filters", async () => {
  const cases: [options: string[], ids: string[]][] = [
    [["--status", "failed"], ["second"]],
    [
      ["--status", "processed"],
      ["third", "first"],
    ],
    [["--status", "queued"], []],
    [["--type", "order.paid"], ["first"]],
    [
      ["--source", "default"],
      ["third", "second", "first"],
    ],
    [
      ["--since", "1h"],
      ["third", "second", "first"],
    ],
    [["--since", startedThird], ["third"]],
    [["--since", "2999-01-01T00:00:00Z"], []],
    [
      ["--limit", "2"],
      ["third", "second"],
    ],
    [["--status", "processed", "--type", "order.paid", "--limit", "1"], ["first"]],
  ];
  await Promise.all(
    cases.map(async ([options, ids]) => {
      const found = await list(server, ...options);
      assert.deepEqual(
        found.map(({ eventId }) => eventId),
        ids,
        options.join(" "),
      );
    }),
  );
});

test("list --since reads a time without a zone as UTC, in any time zone of the machine", async () => {
  for (const since of [startedThird.replace("Z", ""), startedThird.replace("T", " ").replace("Z", "")]) {
    const { stdout } = await server.run(["events", "list", "--since", since, "--json"], { TZ: "America/New_York" });
    assert.deepEqual(
      (JSON.parse(stdout) as { eventId: string }[]).map(({ eventId }) => eventId),
      ["third"],
    );
  }
});

test("wrong usage gives exit code 2, an error that names the option, and no data", async () => {
  const cases: [args: string[], names: RegExp][] = [
    [
      ["list", "--status", "nonsense"],
      /--status .* is invalid\. Allowed choices are queued, processed, failed, discarded, unrouted\./,
    ],
    [["list", "--limit", "0"], /--limit/],
    [["list", "--limit", "-1"], /--limit/],
    [["list", "--limit", "many"], /--limit/],
    [["list", "--since", "yesterday"], /--since/],
    [["list", "--since", "2026-02-31"], /--since/],
    [["list", "--since", "2026-11-21(x)"], /--since/],
    [["list", "--nonsense"], /--nonsense/],
    [["list", "--status"], /--status/],
    [["show"], /id/],
    [["show", "first", "second"], /argument/],
    [["replay", "second", "--dead-letter"], /--dead-letter/],
    [["nonsense"], /nonsense/],
  ];
  await Promise.all(
    cases.map(async ([args, names]) => {
      const { code, stdout, stderr } = await server.run(["events", ...args]);
      assert.deepEqual([code, stdout], [2, ""], args.join(" "));
      assert.match(stderr, names);
      assert.doesNotMatch(stderr, /\n\s+at /);
    }),
  );
});

test("show prints the event with its attempts, origin and payload", async () => {
  const stored = await show(server, "second");
  assert.deepEqual(Object.keys(stored).slice(0, KEYS.length), KEYS);
  assert.equal(stored.secret, "env:WEBHOOK_SECRET");
  assert.deepEqual(Object.keys(stored.jobs[0] ?? {}), JOB_KEYS);
  assert.deepEqual(
    stored.jobs[0]?.history.map(({ attempt, outcome }) => [attempt, outcome]),
    [[1, "failed"]],
  );
  assert.equal(stored.payload, JSON.stringify(event("second", { type: "fails" })));
  const { code, stdout } = await server.run(["events", "show", "second"]);
  assert.equal(code, 0);
  for (const text of ["second", "fails", "attempt 1", "500", "127.0.0.1", "env:WEBHOOK_SECRET", stored.payload]) {
    assert.ok(stdout.includes(text), text);
  }
});

test("an unknown event gives exit code 1 and a message", async () => {
  const shown = await server.run(["events", "show", "missing"]);
  assert.deepEqual([shown.code, shown.stdout], [1, ""]);
  assert.match(shown.stderr, /There is no event missing/);
  const replayed = await server.run(["events", "replay", "missing", "--json"]);
  assert.equal(replayed.code, 1);
  assert.equal(JSON.parse(replayed.stdout).replayed, 0);
});

test("replay reports the count, and the id of each event that it refuses, with exit code 1", async () => {
  const { code, stdout } = await server.run(["events", "replay", "second", "third", "missing", "--json"]);
  assert.equal(code, 1);
  const { replayed, refused } = JSON.parse(stdout);
  assert.equal(replayed, 1);
  assert.deepEqual(
    refused.map((one: { eventId: string }) => one.eventId),
    ["third", "missing"],
  );
  await until(() => server.log("event_dead_lettered").length === 2);
  assert.equal((await show(server, "second")).attempts, 2);
});

test("stats counts events by status, and deliveries and attempts over time", async () => {
  const { bytes, since, until: end, step, items, total, sums, ...counts } = await stats(server);
  assert.ok(Number(bytes) > 0);
  assert.deepEqual(counts, {
    queued: 0,
    processed: 2,
    failed: 1,
    discarded: 0,
    unrouted: 0,
    conflicts: 0,
    unreadable: 0,
    oldestQueuedAt: null,
    ids: 3,
  });
  assert.equal(step, "hour");
  assert.equal((items as unknown as object[]).length, 25);
  const { received, processed } = total as unknown as Record<string, number>;
  assert.deepEqual([received, processed], [3, 2]);
  const { stdout } = await server.run(["events", "stats", "--since", "1h"]);
  assert.match(
    stdout,
    /^queued +0\nprocessed +2\n[\s\S]*\n\nIn 60 min, from .*:\nSOURCE +RECEIVED [\s\S]*\nROUTE +SOURCE +PROCESSED /,
  );
  assert.match(stdout, /\nall +3 [\s\S]*\nall +all +2 /);
  const wrong = await server.run(["events", "stats", "--since", "30d", "--step", "minute"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /--step is not usable/);
});

test("show counts deliveries with the same id but different bytes, and --json prints these bytes", async () => {
  const other = `{ "id": "first",\r\n\t"type": "other",  "note": "ñ 😀 \\u0000 \u007f\u0085\u2028" }\n`;
  for (const words of [" 1 delivery of different bytes", " 2 deliveries of different bytes"]) {
    await deliver(server, other);
    const { stdout, stderr } = await server.run(["events", "show", "first"]);
    assert.ok(stdout.includes(words), stdout);
    assert.match(stderr, /--json/);
  }
  const { conflicts, payload } = await show(server, "first");
  assert.equal(payload, JSON.stringify(event("first")));
  assert.deepEqual(
    conflicts.map((conflict) => conflict.payload),
    [other],
  );
});
