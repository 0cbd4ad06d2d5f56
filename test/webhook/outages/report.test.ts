import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { joined, merged, type Outage } from "../../../src/webhook/outages/outage.ts";
import { type AffectedSource, effectOn } from "../../../src/webhook/outages/report.ts";
import { type FactValues, says } from "../../../src/webhook/provider.ts";

const FROM = 1_800_000_000_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const stopped = (hours: number): Outage => ({ kind: "stopped", from: FROM, to: FROM + hours * HOUR });

const source = (values: Partial<FactValues>, changes: Partial<AffectedSource> = {}): AffectedSource => ({
  name: "shop",
  facts: says("https://example.com", values),
  catchUp: "none",
  coveredUntil: null,
  missed: 0,
  ...changes,
});

suite("what an outage means for a source", () => {
  const effect = (hours: number, ...of: Parameters<typeof source>) =>
    effectOn(stopped(hours), source(...of), FROM + hours * HOUR);

  test("a provider that repeats for longer brings all by itself", () => {
    const { remedy, ...rest } = effect(4, { repeats: "automatic", repeatsForSeconds: 3 * 86_400 });
    assert.equal(remedy, null);
    assert.deepEqual(rest, {
      name: "shop",
      resends: "automatic",
      resendsForSeconds: 3 * 86_400,
      until: FROM + 3 * DAY,
      missed: null,
      isAtRisk: false,
    });
  });

  test("one that repeats for a shorter time has lost the beginning", () => {
    const { isAtRisk, remedy } = effect(
      4,
      { repeats: "automatic", repeatsForSeconds: 3600 },
      { catchUp: "configured" },
    );
    assert.deepEqual([isAtRisk, remedy], [true, "authserve sources catch-up shop"]);
  });

  test("of one that does not repeat all types as long, the shortest time counts", () => {
    const values = { repeats: "automatic", repeatsForSeconds: 3600 } as const;
    const longer = effect(0.5, { ...values, repeatsByType: { Bounce: 36_000 } });
    assert.deepEqual([longer.resendsForSeconds, longer.isAtRisk], [3600, false]);
    assert.equal(effect(2, { ...values, repeatsByType: { Bounce: 36_000 } }).isAtRisk, true);
    const never = effect(0.5, { ...values, repeatsByType: { delivered: 0 } });
    assert.deepEqual([never.resends, never.resendsForSeconds, never.isAtRisk], ["automatic", 0, true]);
    assert.match(String(never.remedy), /^ask for the missed deliveries/);
  });

  test("one that repeats when asked does so while it keeps deliveries", () => {
    const values = { repeats: "manual", keepsDays: 3 } as const;
    const { resends, until, remedy } = effect(4, values, { catchUp: "possible" });
    assert.deepEqual([resends, until], ["manual", FROM + 3 * DAY]);
    assert.equal(remedy, "set catchUp of shop, then authserve sources catch-up shop");
    assert.match(String(effect(80, values, { catchUp: "configured" }).remedy), /no longer has the first/);
  });

  test("one of which nothing is known may have lost all, and one that never repeats has", () => {
    assert.deepEqual([effect(1, {}).resends, effect(1, {}).isAtRisk], ["unknown", true]);
    assert.match(String(effect(1, { repeats: "never" }).remedy), /repeats nothing/);
  });

  test("a planned restart puts at risk only what its provider is known not to repeat after it", () => {
    const restarted = (...of: Parameters<typeof source>) =>
      effectOn({ kind: "restart", from: FROM, to: FROM + 9000 }, source(...of), FROM + HOUR).isAtRisk;
    assert.deepEqual([restarted({}), restarted({ repeats: "automatic" })], [false, false]);
    assert.deepEqual([restarted({ repeats: "never" }), restarted({ repeats: "manual" })], [true, true]);
    const values = { repeats: "automatic", repeatsForSeconds: 3600 } as const;
    assert.equal(restarted(values), false);
    assert.equal(restarted({ ...values, repeatsForSeconds: 5 }), true);
    assert.equal(restarted({ ...values, repeatsByType: { delivered: 0 } }), true);
  });

  test("after a catch-up nothing is at risk, and what was missed is known", () => {
    const covered = { coveredUntil: FROM + 5 * HOUR, missed: 7 };
    const { isAtRisk, missed, remedy } = effect(4, { repeats: "manual" }, covered);
    assert.deepEqual([isAtRisk, missed, remedy], [false, 7, null]);
    assert.equal(effect(6, { repeats: "manual" }, covered).missed, null);
  });
});

suite("outages", () => {
  test("of one kind are one unless they are far apart", () => {
    const outage = (from: number, to: number): Outage => ({ kind: "queue", from, to });
    assert.deepEqual(joined(outage(0, 10), outage(60_010, 60_020)), outage(0, 60_020));
    assert.equal(joined(outage(0, 10), outage(60_011, 60_020)), null);
    assert.equal(joined(outage(0, 10), { ...outage(5, 20), kind: "disk" }), null);
  });

  test("of several servers at one time are one, and two restarts are two", () => {
    const at = (kind: Outage["kind"], from: number, to: number): Outage => ({ kind, from, to });
    const all = [at("store", 5, 20), at("stopped", 40, 50), at("store", 0, 10), at("stopped", 10, 30)];
    assert.deepEqual(merged(all), [at("store", 0, 20), at("stopped", 10, 30), at("stopped", 40, 50)]);
    const restarts = [at("restart", 0, 5), at("restart", 20, 25)];
    assert.deepEqual(merged(restarts), restarts);
  });
});
