import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import stringWidth from "string-width";
import { type Column, printTable } from "../../src/cli/table.ts";

const COLUMNS: Column[] = [{ heading: "ID" }, { heading: "COUNT" }, { heading: "TYPE", leastWidth: 5, givesWay: 1 }];

/** The lines of a table on a terminal of this width; 0 means no terminal. */
function linesOf(t: TestContext, terminal: number, rows: string[][]): string[] {
  const { isTTY, columns } = process.stdout;
  let text = "";
  const { mock } = t.mock.method(process.stdout, "write", (piece: string) => {
    text += piece;
    return true;
  });
  Object.assign(process.stdout, { isTTY: terminal > 0, columns: terminal });
  try {
    printTable(COLUMNS, rows);
  } finally {
    mock.restore();
    Object.assign(process.stdout, { isTTY, columns });
  }
  return text.trimEnd().split("\n");
}

const ROW = ["evt_123456789", "7", "payment_intent.succeeded"];

test("a table fits the terminal: cells are cut, then columns are left out, and an id stays whole", (t) => {
  assert.deepEqual(linesOf(t, 40, [ROW]), ["ID             COUNT  TYPE", "evt_123456789  7      payment_intent.su…"]);
  assert.deepEqual(linesOf(t, 27, [ROW]), ["ID             COUNT  TYPE", "evt_123456789  7      paym…"]);
  assert.deepEqual(linesOf(t, 20, [ROW]), ["ID             COUNT", "evt_123456789  7"]);
});

test("a table in a pipe is not cut", (t) => {
  assert.equal(linesOf(t, 0, [ROW])[1], "evt_123456789  7      payment_intent.succeeded");
});

test("wide characters, and those of several code points, are aligned", (t) => {
  const lines = linesOf(t, 30, [
    ["注文注文", "1", "👍🏽 all is well here"],
    ["plain", "22", "x"],
  ]);
  const [heading = "", wide = "", plain = ""] = lines;
  for (const line of lines) assert.ok(stringWidth(line) <= 30, line);
  const columnOf = (line: string, text: string) => stringWidth(line.slice(0, line.indexOf(text)));
  assert.deepEqual(
    [columnOf(wide, "1"), columnOf(plain, "22")],
    [columnOf(heading, "COUNT"), columnOf(heading, "COUNT")],
  );
  assert.equal(columnOf(wide, "👍🏽"), columnOf(plain, "x"));
});

test("control characters in a cell cannot control the terminal", (t) => {
  assert.match(linesOf(t, 80, [["a\u001b[2Jb", "1", ""]])[1] ?? "", /^a\\u\{1b\}\[2Jb/);
});
