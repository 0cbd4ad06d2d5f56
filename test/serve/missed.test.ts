import assert from "node:assert/strict";
import { test } from "node:test";
import { subscriptionConditions } from "../../src/alerts/missed.ts";
import { readSubscriptions } from "../../src/serve/missed.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import type { Source } from "../../src/webhook/source.ts";
import { tempDatabase } from "../helpers/database.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

// https://github.com/Nine-Minds/alga-psa/pull/3092: the longest life depends on what is watched.
test("a subscription is at risk by the life that its provider has granted, not by the one that was asked for", async (t) => {
  const { subscriptions } = localStores(tempDatabase(t).database);
  const granted = { id: "s", resource: null, startedAt: NOW, expiresAt: NOW + HOUR, triedAt: NOW, error: null };
  await subscriptions.save("mail", granted);
  const source = { name: "mail", renew: { lifeMs: 48 * HOUR } } as unknown as Source;
  const watched = await readSubscriptions(subscriptions, [source]);
  const namesAt = (now: number) =>
    subscriptionConditions(watched, { subscription: { withinMs: 24 * HOUR } }, now).map(({ name }) => name);
  assert.deepEqual(namesAt(NOW + HOUR / 2), []);
  assert.deepEqual(namesAt(NOW + HOUR / 2 + HOUR / 4), ["AuthserveSubscriptionEnds"]);
});
