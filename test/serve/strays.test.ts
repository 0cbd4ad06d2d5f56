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
