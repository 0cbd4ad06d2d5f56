import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { createStrays } from "../../src/serve/strays.ts";
import { createRecentRefusals } from "../../src/webhook/intake/refusals.ts";
import { sourceIn } from "../helpers/config-file.ts";

test("paths that a scanner tries are kept in small number, and forgotten with other endpoints", () => {
  const source = { ...sourceIn("{ preset: github, secrets: [env:SECRET] }"), path: "/hooks/github" };
  const refusals = createRecentRefusals(() => 0);
  const updates: unknown[] = [];
  const strays = createStrays(refusals, { update: (known) => void updates.push(known) });
  const onUnknownPath = strays.watch([source], []);
  for (let i = 0; i < 10_000; i++) {
    onUnknownPath({ method: "POST", url: `/hooks/${i}`, headers: {} } as IncomingMessage, "192.0.2.1");
  }
  assert.equal(refusals.list().length, 20);
  assert.ok(refusals.list().every(({ source, reason }) => source === null && reason === "not_found"));
  strays.watch([source], []);
  assert.deepEqual([refusals.list(), updates], [[], [{ strays: [] }]]);
  strays.stop();
});

test("a delivery to the path of a source that is about to be added is kept", () => {
  const refusals = createRecentRefusals(() => 0);
  const strays = createStrays(refusals, { update: () => {} });
  const onUnknownPath = strays.watch([], []);
  const post = (url: string, method = "POST") =>
    onUnknownPath({ method, url, headers: {} } as IncomingMessage, "192.0.2.1");
  for (let i = 0; i < 100; i++) strays.expect(`/hooks/${i}`);
  for (const url of ["/hooks/0", "/hooks/99?a=1", "/hooks/100"]) post(url);
  post("/hooks/98", "GET");
  assert.deepEqual(
    refusals.list().map(({ path, near, source }) => [path, near, source]),
    [["/hooks/99", null, null]],
  );
  strays.stop();
});
