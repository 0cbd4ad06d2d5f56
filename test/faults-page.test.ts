import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { POSTGRES_FAULTS, REDIS_FAULTS, SQLITE_FAULTS } from "./helpers/fault-table.ts";
import { pageTable } from "./helpers/faults.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../docs/faults.md"), "utf8");

const TABLES = { SQLite: SQLITE_FAULTS, PostgreSQL: POSTGRES_FAULTS, Redis: REDIS_FAULTS };

/** The cells of the last column of the tables that have a column `test`. */
function testCells(): string[] {
  const cells: string[] = [];
  for (const [, rows = ""] of PAGE.matchAll(/^\| fault .*\| test \|\n\|[-|]+\n((?:\|.*\n)+)/gm)) {
    for (const row of rows.trim().split("\n")) cells.push(row.split(" | ").at(-1)?.replace(/ \|$/, "") ?? "");
  }
  return cells;
}

suite("docs/faults.md", () => {
  for (const [store, faults] of Object.entries(TABLES)) {
    test(`says of each fault with ${store} what its test expects`, () => {
      const expected = pageTable(faults);
      assert.ok(PAGE.includes(`\n\n${expected}\n\n`), `the page needs this table:\n${expected}`);
    });
  }

  test("names for each other fault a test that is there, or none", () => {
    const cells = testCells();
    assert.ok(cells.length > 50);
    for (const cell of cells) {
      const files = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      assert.ok(cell === "none" || cell.startsWith("[made](#what-is-seen)") || files.length > 0, cell);
      for (const file of files) assert.ok(existsSync(join(import.meta.dirname, `${file}.test.ts`)), file);
    }
  });
});
