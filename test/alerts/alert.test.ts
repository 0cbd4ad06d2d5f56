import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { alertId, type Condition, type Silence, silencedUntil } from "../../src/alerts/alert.ts";

const NOW = 1_800_000_000_000;
const DEAD: Pick<Condition, "name" | "labels"> = { name: "AuthserveDeadLetters", labels: {} };
const SILENT = (source: string) => ({ name: "AuthserveSourceSilent", labels: { source } }) as const;

suite("the id of an alert", () => {
  test("is the same for the same name and labels, whatever their order", () => {
    const labels = { source: "shop", secret: "env:OLD" };
    const id = alertId({ name: "AuthserveOldSecret", labels });
    assert.match(id, /^[0-9a-f]{16}$/);
    assert.equal(alertId({ name: "AuthserveOldSecret", labels: { secret: "env:OLD", source: "shop" } }), id);
  });

  test("is another one for another name, label or value", () => {
    const ids = [
      DEAD,
      { name: "AuthserveQueueOld", labels: {} } as const,
      SILENT("a"),
      SILENT("b"),
      { name: "AuthserveSourceSilent", labels: { route: "a" } } as const,
    ].map(alertId);
    assert.equal(new Set(ids).size, ids.length);
  });
});

suite("a silence", () => {
  const silence = (changes: Partial<Silence>): Silence => ({
    id: "s",
    name: null,
    labels: {},
    reason: null,
    until: NOW + 1000,
    ...changes,
  });
  const isSilenced = (alert: typeof DEAD, changes: Partial<Silence>) =>
    silencedUntil(alert, [silence(changes)], NOW) !== null;

  test("matches every alert, or those of its name", () => {
    assert.equal(isSilenced(DEAD, {}), true);
    assert.equal(isSilenced(DEAD, { name: "AuthserveDeadLetters" }), true);
    assert.equal(isSilenced(DEAD, { name: "AuthserveQueueOld" }), false);
  });

  test("matches alerts that have all of its labels", () => {
    const both = { name: "AuthserveOldSecret", labels: { source: "a", secret: "env:OLD" } } as const;
    assert.equal(isSilenced(both, { labels: { source: "a" } }), true);
    assert.equal(isSilenced(both, { labels: { source: "b" } }), false);
    assert.equal(isSilenced(SILENT("a"), { labels: { source: "a", secret: "env:OLD" } }), false);
    assert.equal(isSilenced(DEAD, { labels: { source: "a" } }), false);
  });

  test("has ended at its end", () => {
    assert.equal(isSilenced(DEAD, { until: NOW + 1 }), true);
    assert.equal(isSilenced(DEAD, { until: NOW }), false);
  });

  test("counts beside others until the last of them ends", () => {
    const silences = [2000, 9000, 3000].map((afterMs) => silence({ until: NOW + afterMs }));
    const other = silence({ name: "AuthserveQueueOld", until: NOW + 99_000 });
    assert.equal(silencedUntil(DEAD, [...silences, other], NOW), NOW + 9000);
    assert.equal(silencedUntil(DEAD, [other], NOW), null);
  });
});
