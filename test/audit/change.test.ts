import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { listChanges, makeAudited } from "../../src/audit/change.ts";
import { AppError } from "../../src/errors.ts";

const CHANGE = { who: "token:ci", origin: "192.0.2.1", action: "route.pause", detail: { route: "all" } } as const;

/** Writes rows to a list, from the one with this number on not any more. */
function writing(failing = Number.POSITIVE_INFINITY) {
  const rows: object[] = [];
  const write = async ({ detail }: { detail: object }) => {
    if (rows.length + 1 >= failing) throw new AppError("store_unavailable");
    return rows.push(detail);
  };
  return { rows, write };
}

suite("an audited change", () => {
  test("is made between a row that says so and one with its outcome", async () => {
    const { rows, write } = writing();
    const result = await makeAudited(
      write,
      CHANGE,
      async () => rows.length,
      (count) => ({ count }),
    );
    assert.equal(result, 1);
    assert.deepEqual(rows, [
      { route: "all", begins: true },
      { route: "all", count: 1, begun: 1 },
    ]);
  });

  test("that changes nothing says so", async () => {
    const { rows, write } = writing();
    await makeAudited(
      write,
      CHANGE,
      async () => false,
      () => null,
    );
    assert.deepEqual(rows[1], { route: "all", changed: false, begun: 1 });
  });

  test("that fails has the code of the error", async () => {
    const { rows, write } = writing();
    const fail = async () => {
      throw new AppError("not_found");
    };
    await assert.rejects(
      makeAudited(write, CHANGE, fail, () => ({})),
      { code: "not_found" },
    );
    assert.deepEqual(rows[1], { route: "all", failed: "not_found", begun: 1 });
  });

  test("is not made without its first row", async () => {
    const { write } = writing(1);
    let isMade = false;
    const make = async () => {
      isMade = true;
    };
    await assert.rejects(
      makeAudited(write, CHANGE, make, () => ({})),
      { code: "store_unavailable" },
    );
    assert.equal(isMade, false);
  });
});

suite("the list of changes", () => {
  const details = [
    {},
    { begins: true },
    { begins: true },
    { begun: 2 },
    { begins: true },
    { begun: 5 },
    { begins: true },
  ];
  const rows = details.map((detail, index) => ({
    ...{ number: index + 1, at: 0, who: "server", origin: "machine", action: "config.take" as const, hash: "" },
    detail: JSON.stringify(detail),
  }));
  const audit = {
    list: async ({ before = 99, limit }: { before?: number | undefined; limit: number }) =>
      rows
        .filter(({ number }) => number < before)
        .reverse()
        .slice(0, limit),
    after: async (number: number) => rows.filter((row) => row.number > number),
  };
  const numbers = async (request: Parameters<typeof listChanges>[1]) =>
    (await listChanges(audit, request)).map(({ number }) => number);

  test("has one row of a change, also if a page ends between its two rows", async () => {
    assert.deepEqual(await numbers({ limit: 50 }), [7, 6, 4, 3, 1]);
    assert.deepEqual(
      [await numbers({ limit: 2 }), await numbers({ before: 6, limit: 2 })],
      [
        [7, 6],
        [4, 3],
      ],
    );
    assert.deepEqual(await numbers({ limit: 7, isWhole: true }), [7, 6, 5, 4, 3, 2, 1]);
  });
});
