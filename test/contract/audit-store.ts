import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { verifyAudit } from "../../src/audit/chain.ts";
import { AUDIT_KEPT_MS, type AuditEntry, type AuditStore, MAX_REMOVED_ROWS } from "../../src/audit/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;

/** An entry with a number in its detail. */
export const auditEntry = (n: number, changes: Partial<AuditEntry> = {}): AuditEntry => ({
  at: NOW + n,
  who: "token:ci",
  origin: "192.0.2.1",
  action: "events.replay",
  detail: JSON.stringify({ n, text: "ñ\u0000" }),
  ...changes,
});

/** A store, and a way to break its chain by hand. */
interface OpenedAudit {
  store: AuditStore;
  run(statement: string): Promise<void>;
}

/** The contract of every store of the audit. `open` returns an empty one. */
export function auditStoreContract(adapter: string, open: (context: Cleanup) => Promise<OpenedAudit>): void {
  const faultsOf = async (store: AuditStore, known: Parameters<typeof verifyAudit>[2] = null, now = NOW) =>
    (await verifyAudit(store, now, known)).faults.map(({ number, found }) => `${number} ${found}`);

  async function openWith(t: Cleanup, count: number) {
    const opened = await open(t);
    for (let n = 1; n <= count; n++) await opened.store.append(auditEntry(n));
    return opened;
  }

  suite(`audit store: ${adapter}`, () => {
    test("is empty and whole at first", async (t) => {
      const { store } = await open(t);
      assert.deepEqual(await store.list({ limit: 10 }), []);
      const { rows, newest, faults } = await verifyAudit(store, NOW);
      assert.deepEqual([rows, newest.number, faults], [0, 0, []]);
    });

    test("rows are numbered, chained, and listed newest first, page by page", async (t) => {
      const { store } = await openWith(t, 3);
      const [third, second] = await store.list({ limit: 2 });
      const [first, ...others] = await store.list({ before: second?.number ?? 0, limit: 2 });
      assert.deepEqual([third?.number, second?.number, first?.number, others], [3, 2, 1, []]);
      const { number, hash, ...entry } = first ?? {};
      assert.deepEqual(entry, auditEntry(1));
      assert.equal(new Set([first, second, third].map((row) => row?.hash)).size, 3);
      assert.deepEqual(await store.after(1, 1), [second]);
      const verdict = await verifyAudit(store, NOW);
      assert.deepEqual(verdict, { rows: 3, newest: { number: 3, hash: third?.hash, at: NOW + 3 }, faults: [] });
    });

    test("appends at the same time make one chain", async (t) => {
      const { store } = await open(t);
      await Promise.all(Array.from({ length: 40 }, (_, n) => store.append(auditEntry(n))));
      const { rows, faults } = await verifyAudit(store, NOW);
      assert.deepEqual([rows, faults], [40, []]);
    });

    const COPY = "at, who, origin, action, detail, hash";
    for (const [what, statements, found] of [
      ["was changed", ["UPDATE audit SET who = 'token:other' WHERE number = 3"], [/^3 does not fit/]],
      ["has another hash", [`UPDATE audit SET hash = '${"0".repeat(64)}' WHERE number = 3`], [/^3 does/, /^4 does/]],
      ["was removed", ["DELETE FROM audit WHERE number = 3"], [/^3 is missing/]],
      ["was removed at the beginning", ["DELETE FROM audit WHERE number < 3"], [/^1 and those up to 2 are missing/]],
      ["was removed at the end", ["DELETE FROM audit WHERE number > 4"], [/^5 is missing/]],
      [
        "was removed, and the later ones renumbered",
        ["DELETE FROM audit WHERE number = 3", "UPDATE audit SET number = 3 WHERE number = 4"],
        [/^3 does not fit/, /^4 is missing/],
      ],
      [
        "was inserted",
        [
          "UPDATE audit SET number = 6 WHERE number = 5",
          `INSERT INTO audit (number, ${COPY}) SELECT 5, ${COPY} FROM audit WHERE number = 2`,
        ],
        [/^5 does not fit/, /^5 has another hash/, /^6 does not fit/, /^6 is behind the end/],
      ],
      [
        "was moved",
        [
          "UPDATE audit SET number = 99 WHERE number = 2",
          "UPDATE audit SET number = 2 WHERE number = 4",
          "UPDATE audit SET number = 4 WHERE number = 99",
        ],
        [/^2 does not fit/, /^3 does not fit/, /^4 does not fit/, /^5 does not fit/],
      ],
    ] as const)
      test(`a row that ${what} is found`, async (t) => {
        const { store, run } = await openWith(t, 5);
        for (const statement of statements) await run(statement);
        const faults = await faultsOf(store);
        assert.equal(faults.length, found.length, faults.join("\n"));
        for (const [index, pattern] of found.entries()) assert.match(faults[index] ?? "", pattern);
      });

    test("a chain that was made anew is found by a row of an earlier check", async (t) => {
      const { store, run } = await openWith(t, 3);
      const { newest } = await verifyAudit(store, NOW);
      await run("DELETE FROM audit");
      await run("DELETE FROM audit_ends");
      assert.match((await faultsOf(store, newest)).join(), /^3 is missing/);
      for (let n = 1; n <= 4; n++) await store.append(auditEntry(n, { who: "token:other" }));
      assert.deepEqual(await faultsOf(store), []);
      assert.match((await faultsOf(store, newest)).join(), /^3 has another hash than it had at an earlier check/);
    });

    test("rows of two years ago are removed bit by bit, and the rest stays whole", async (t) => {
      const { store } = await openWith(t, MAX_REMOVED_ROWS + 2);
      await store.append(auditEntry(100));
      const later = { at: NOW + AUDIT_KEPT_MS + 60 };
      await store.append(auditEntry(0, later));
      await store.append(auditEntry(0, later));
      const rows = await store.after(0, 100);
      assert.deepEqual(
        rows.map(({ number }) => number),
        [MAX_REMOVED_ROWS + 3, MAX_REMOVED_ROWS + 4, MAX_REMOVED_ROWS + 5],
      );
      const now = later.at + 10;
      assert.deepEqual(await faultsOf(store, null, now), []);
      const hash = "1".repeat(64);
      const removed = { number: MAX_REMOVED_ROWS + 2, hash };
      assert.deepEqual(await faultsOf(store, { number: 1, hash }, now), []);
      assert.match((await faultsOf(store, removed, now)).join(), /^22 had another hash when it was removed/);
      assert.match(
        (await faultsOf(store, { number: 1, hash, at: NOW + 100 }, now)).join(),
        /^1 was removed before its/,
      );
    });

    test("rows that were removed before their time are found, and so is a known one", async (t) => {
      const { store, run } = await openWith(t, 4);
      const [, , third] = await store.after(0, 3);
      const { newest } = await verifyAudit(store, NOW);
      const mark = (name: string, number: number) =>
        run(`INSERT INTO audit_ends (name, number, hash) VALUES ('${name}', ${number}, '${third?.hash}')`);
      await mark("removed", 3);
      await run("DELETE FROM audit WHERE number <= 3");
      assert.deepEqual(await faultsOf(store), ["3 and those before it were removed before their time"]);
      await mark("removed_at", NOW);
      assert.match((await faultsOf(store, third)).join("\n"), /^3 and those before .*\n3 was removed before its time$/);
      // Who writes an old time is found by the time of a known row, and by the newest row, which is never removed.
      await run(`UPDATE audit_ends SET number = ${NOW - 2 * AUDIT_KEPT_MS} WHERE name = 'removed_at'`);
      assert.deepEqual(await faultsOf(store, third), ["3 was removed before its time"]);
      await run("DELETE FROM audit");
      await run("UPDATE audit_ends SET number = 4 WHERE name = 'removed'");
      assert.match((await faultsOf(store)).join(), /^4 and those before it were removed before their time/);
      assert.match((await faultsOf(store, newest)).join(), /4 had another hash .*,4 was removed/);
    });
  });
}
