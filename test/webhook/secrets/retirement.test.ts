import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { SourceRecord } from "../../../src/webhook/intake/source-store.ts";
import { createRetirement } from "../../../src/webhook/secrets/retirement.ts";
import type { RotatingSource } from "../../../src/webhook/secrets/rotation.ts";
import type { Secret } from "../../../src/webhook/signature/secret.ts";
import { recordingLog } from "../../helpers/log.ts";
import { secretOf } from "../../helpers/secret.ts";

const START = 1_800_000_000_000;
const DAY_MS = 24 * 3_600_000;
const RETIRE_MS = 14 * DAY_MS;
const NEW = secretOf("the new secret", "env:NEW");
const OLD = secretOf("the old secret", "env:OLD");
const SHOP: RotatingSource = { name: "shop", secrets: [NEW, OLD], retireMs: RETIRE_MS };

/** The record of the source, with the first and last use of secrets. */
function recordOf(...uses: [secret: Secret, firstUsedAt: number, lastUsedAt: number][]): SourceRecord {
  const secrets = uses.map(([{ name, mark }, firstUsedAt, lastUsedAt]) => ({ name, mark, firstUsedAt, lastUsedAt }));
  return { source: "shop", received: 9, refused: 0, refusals: {}, lastReceivedAt: START, lastSecret: null, secrets };
}

/** A retirement with a store and a clock that the test sets. */
function open(record = recordOf()) {
  const state = { now: START, records: [record], reads: 0, error: null as Error | null };
  const log = recordingLog();
  const store = {
    async list() {
      state.reads++;
      if (state.error !== null) throw state.error;
      return state.records;
    },
  };
  const source = { current: SHOP };
  const sources = () => [source.current];
  const retirement = createRetirement({
    store,
    sources,
    log: log.log,
    now: () => state.now,
    monotonic: () => state.now,
  });
  return { ...retirement, state, source, named: log.named };
}

suite("a secret is accepted", () => {
  for (const [which, source, secret] of [
    ["that is the newest", SHOP, NEW],
    ["of a source without retire", { name: "shop", secrets: [NEW, OLD] }, OLD],
  ] as const) {
    test(`${which}, without a look at the store`, async () => {
      const { accepts, state } = open(recordOf([NEW, 1, 1], [OLD, 1, 1]));
      assert.equal(await accepts(source, secret), true);
      assert.equal(state.reads, 0);
    });
  }

  test("that is old, until it has not matched for so long", async () => {
    const { accepts, state } = open(recordOf([OLD, 1, START]));
    state.now = START + RETIRE_MS - 1;
    assert.equal(await accepts(SHOP, OLD), true);
    state.now += RETIRE_MS;
    assert.equal(await accepts(SHOP, OLD), false);
  });

  test("that this server saw while its clock was ahead, until it has not matched for so long", async () => {
    const { accepts, state } = open(recordOf([OLD, 1, START]));
    state.now = START + 1e12;
    state.records = [recordOf([OLD, 1, state.now])];
    assert.equal(await accepts(SHOP, OLD), true);
    state.now = START;
    state.records = [recordOf([OLD, 1, START])];
    assert.equal(await accepts(SHOP, OLD), true);
    state.now = START + 2 * RETIRE_MS;
    assert.equal(await accepts(SHOP, OLD), false);
  });

  test("that is old and never matched, until the newest has matched for so long", async () => {
    const { accepts, state } = open();
    assert.equal(await accepts(SHOP, OLD), true);
    const { accepts: acceptsLater } = open(recordOf([NEW, START - RETIRE_MS, START]));
    assert.equal(await acceptsLater(SHOP, OLD), false);
    assert.equal(state.reads, 1);
  });

  test("if this server has seen it, before that is in the store", async () => {
    const { accepts, state } = open(recordOf([OLD, 1, START - RETIRE_MS + 1000]));
    assert.equal(await accepts(SHOP, OLD), true);
    state.now += RETIRE_MS - 1;
    assert.equal(await accepts(SHOP, OLD), true);
  });

  test("if another server has seen it", async () => {
    const { accepts, state } = open(recordOf([OLD, 1, START]));
    const briefly = { ...SHOP, retireMs: 3000 };
    assert.equal(await accepts(briefly, OLD), true);
    state.now += 4000;
    state.records = [recordOf([OLD, 1, state.now - 1000])];
    assert.equal(await accepts(briefly, OLD), true);
  });

  test("that was retired, if its value is a new one", async () => {
    const { accepts } = open(recordOf([NEW, START - 5, START], [OLD, 1, START - RETIRE_MS]));
    assert.equal(await accepts(SHOP, OLD), false);
    const moved = secretOf("another value", "env:OLD");
    assert.equal(await accepts({ ...SHOP, secrets: [NEW, moved] }, moved), true);
  });
});

suite("a retired secret", () => {
  const retired = () => open(recordOf([OLD, 1, START - RETIRE_MS]));

  test("stays retired when it is sent, and when another secret becomes the newest", async () => {
    const { accepts, state } = retired();
    for (let i = 0; i < 3; i++) {
      assert.equal(await accepts(SHOP, OLD), false);
      state.now += 10_000;
    }
    const newer = secretOf("a newer secret", "env:NEWER");
    assert.equal(await accepts({ ...SHOP, secrets: [newer, NEW, OLD] }, OLD), false);
  });

  test("makes the server read the store once in 5 s, for all deliveries", async () => {
    const { accepts, state } = retired();
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => accepts(SHOP, OLD))), [false, false, false]);
    state.now += 4999;
    await accepts(SHOP, OLD);
    assert.equal(state.reads, 1);
    state.now += 1;
    await accepts(SHOP, OLD);
    assert.equal(state.reads, 2);
  });

  test("is neither refused nor accepted while the store does not answer", async () => {
    const { accepts, state } = retired();
    state.error = new Error("down");
    await assert.rejects(accepts(SHOP, OLD), /down/);
    state.error = null;
    assert.equal(await accepts(SHOP, OLD), false);
  });
});

suite("the announcement", () => {
  /** Starts, with a function that moves the time to the next check after the given time. */
  async function start(t: TestContext, opened: ReturnType<typeof open>) {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    opened.start();
    await nextTurn();
    return async (ms: number) => {
      opened.state.now += ms;
      t.mock.timers.tick(60_000);
      await nextTurn();
    };
  }

  test("comes once a day before, again after a use, and once when the secret is retired", async (t) => {
    const opened = open(recordOf([OLD, 1, START]));
    const { named, state } = opened;
    const after = await start(t, opened);
    const counts = () => [named("secret_retires_soon").length, named("secret_retired").length];
    await after(RETIRE_MS - DAY_MS - 1);
    assert.deepEqual(counts(), [0, 0]);
    for (const ms of [2, 1000]) await after(ms);
    assert.deepEqual(counts(), [1, 0]);
    state.records = [recordOf([OLD, 1, state.now])];
    await after(1000);
    for (const ms of [RETIRE_MS - DAY_MS, 1000]) await after(ms);
    assert.deepEqual(counts(), [2, 0]);
    for (const ms of [DAY_MS, 1000]) await after(ms);
    assert.deepEqual(counts(), [2, 1]);
    const [line] = named("secret_retires_soon");
    assert.deepEqual(
      [line?.level, line?.source, line?.secret, line?.at],
      ["warn", "shop", "env:OLD", "2027-01-29T08:00:00.000Z"],
    );
  });

  test("comes at once if retire is shorter than a day", async (t) => {
    const opened = open(recordOf([OLD, 1, START]));
    opened.source.current = { ...SHOP, retireMs: 2000 };
    const after = await start(t, opened);
    assert.equal(opened.named("secret_retires_soon").length, 1);
    await after(2000);
    assert.equal(opened.named("secret_retired").length, 1);
  });

  test("comes with the first refused delivery", async () => {
    const { accepts, named } = open(recordOf([OLD, 1, START - RETIRE_MS]));
    for (let i = 0; i < 2; i++) await accepts(SHOP, OLD);
    assert.equal(named("secret_retired").length, 1);
  });

  test("reads nothing without a source that retires secrets", async (t) => {
    const opened = open();
    opened.source.current = { name: "shop", secrets: [NEW, OLD] };
    const after = await start(t, opened);
    await after(1000);
    assert.equal(opened.state.reads, 0);
  });

  test("logs once that the store does not answer", async (t) => {
    const opened = open(recordOf([OLD, 1, START - RETIRE_MS]));
    opened.state.error = new Error("down");
    const after = await start(t, opened);
    await after(1000);
    assert.equal(opened.named("retirement_check_error").length, 1);
    opened.state.error = null;
    await after(1000);
    assert.equal(opened.named("secret_retired").length, 1);
    await opened.stop();
  });

  test("does not keep the process alive", (t) => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const { start: begin, stop } = open();
    t.after(stop);
    begin();
    assert.equal(timers(), before);
  });
});
