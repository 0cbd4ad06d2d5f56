import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HeldBounds } from "../../../src/webhook/held/held-store.ts";
import { createHolding } from "../../../src/webhook/held/holding.ts";
import { recordingLog } from "../../helpers/log.ts";

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const BOUNDS: HeldBounds = { count: 10, bytes: 1000, forMs: 30 * DAY_MS };

/** A holding whose store has deliveries of these sources. `minute` lets the next trim run. */
function open({ mock }: TestContext, held: string[], keeping: string[], configured = keeping) {
  mock.timers.enable({ apis: ["setTimeout"] });
  const trims: [string, number][] = [];
  const state = { error: null as Error | null };
  const store = {
    async hold() {},
    async sources() {
      if (state.error) throw state.error;
      return held;
    },
    trim: async (source: string, { forMs }: HeldBounds) => void trims.push([source, forMs / DAY_MS]),
  };
  const sources = () => configured.map((name) => ({ name, ...(keeping.includes(name) && { keepRejected: BOUNDS }) }));
  const { log, named } = recordingLog();
  createHolding({ store, write: (_, run) => run(), sources, log, now: () => NOW }).start();
  async function minute(): Promise<void> {
    mock.timers.tick(60_000);
    for (let turn = 0; turn < 5; turn++) await nextTurn();
  }
  return { minute, trims, state, named };
}

suite("what is held", () => {
  test("of a source that keeps refused deliveries has its bounds", async (t) => {
    const { minute, trims } = open(t, ["shop"], ["shop"]);
    await minute();
    assert.deepEqual(trims, [["shop", 30]]);
  });

  test("of a source that left the file, or keeps nothing any more, expires after a week", async (t) => {
    const { minute, trims } = open(t, ["gone", "other"], [], ["other"]);
    await minute();
    assert.deepEqual(trims, [
      ["gone", 7],
      ["other", 7],
    ]);
  });

  test("is tried again when it could not be removed, which is logged once", async (t) => {
    const { minute, trims, state, named } = open(t, ["shop"], ["shop"]);
    state.error = new Error("down");
    await minute();
    await minute();
    assert.equal(named("held_trim_error").length, 1);
    state.error = null;
    await minute();
    assert.equal(trims.length, 1);
  });
});
