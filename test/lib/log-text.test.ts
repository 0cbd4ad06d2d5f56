import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { logText } from "../../src/lib/log-text.ts";
import { createLog } from "../../src/log.ts";

// A pipeline may ask for colours with FORCE_COLOR.
const plain = stripVTControlCharacters;

test("a log line as text has time, level and message, then the fields", () => {
  const lines: string[] = [];
  const log = createLog("info", { out: { write: (line) => void lines.push(line) }, format: "text" });
  log.warn({ event: "event_retried", eventId: "evt_1", attempt: 2, error: 'it said "no"' }, "attempt failed");
  assert.match(
    plain(lines[0] ?? ""),
    /^\d\d:\d\d:\d\d\.\d{3} warn {2}attempt failed eventId=evt_1 attempt=2 error="it said \\"no\\""\n$/,
  );
});

test("values cannot break the line or control the terminal, and a stack keeps its lines", () => {
  const line = { level: "error", time: "2026-11-24T01:02:03.004Z", message: "failed", address: "a\u001b[2J\nb" };
  assert.equal(plain(logText(JSON.stringify(line))), '01:02:03.004 error failed address="a\\u001b[2J\\nb"\n');
  assert.match(logText(JSON.stringify({ ...line, stack: "Error: x\n    at y" })), /\nError: x\n {4}at y\n$/);
});
