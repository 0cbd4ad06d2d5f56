import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { screenLines } from "../../../src/cli/listen/screen.ts";

const shown = (eventId: string, status: number | null) => ({
  event: { id: 1, cursor: "1-1", source: "stripe", eventId, type: "invoice.paid", receivedAt: 0, content: null },
  answer: { status, ms: 12, error: status === null ? "socket hang up" : null },
});

const model = {
  title: "laptop: /data → http://localhost:3000/hook",
  shown: [shown("evt_3", null), shown(`evt_2${"x".repeat(90)}\u001b[2J`, 500), shown("evt_1", 204)],
  count: 3,
  isPaused: false,
  waitsFor: null,
  note: null,
};

const linesOf = (columns: number, rows: number) =>
  screenLines(model, columns, rows).map((line) => stripVTControlCharacters(line));

test("the screen of a listener has as many lines as the terminal, the newest event last, and none is too wide", () => {
  for (const [columns, rows] of [
    [80, 24],
    [40, 8],
    [20, 6],
  ] as const) {
    const lines = linesOf(columns, rows);
    assert.equal(lines.length, rows);
    if (columns >= 40) for (const line of lines) assert.ok(line.length <= columns, line);
    assert.match(lines.join("\n"), /socket hang up/);
  }
  const lines = linesOf(100, 10);
  assert.match(lines[1] ?? "", /^listening, 3 sent$/);
  assert.match(lines[3] ?? "", /stripe {2}invoice\.paid {2}evt_1 .* 204 .*12 ms$/);
  assert.match(lines[5] ?? "", /evt_3 .*socket hang up {2}12 ms$/);
  assert.match(lines.at(-1) ?? "", /r resend the last.*q quit/);
});

test("the screen of a listener says that it is paused, and what it waits for", () => {
  const state = (changes: object) => stripVTControlCharacters(screenLines({ ...model, ...changes }, 80, 10)[1] ?? "");
  assert.equal(state({ isPaused: true, waitsFor: "x" }), "paused, 3 sent");
  assert.equal(
    state({ waitsFor: "https://a.example does not answer" }),
    "waiting: https://a.example does not answer, 3 sent",
  );
});
