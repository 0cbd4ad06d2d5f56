import assert from "node:assert/strict";
import { test } from "node:test";
import { createThrottle, FAILURES_PER_ADDRESS_AND_EMAIL } from "../../../src/auth/throttle/rules.ts";
import { createSqliteThrottleStore } from "../../../src/sqlite/throttle.ts";
import { collectGarbage } from "../../helpers/collect-garbage.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { onePerson } from "../../helpers/people.ts";

const EMAILS = Number(process.env.FLOOD_EMAILS ?? 20_000);
const MOST_HEAP_GROWTH_MB = 5;
// The garbage collector lets a busy heap grow, and SQLite caches 16 MB of pages.
const MOST_RSS_GROWTH_MB = 256;
const NOW = 1_800_000_000_000;

function liveMemory(): NodeJS.MemoryUsage {
  collectGarbage();
  return process.memoryUsage();
}

const wrong = () => Promise.resolve(false);

test(`L11 ${EMAILS} different e-mails grow memory only a little and displace no earlier count`, async (t) => {
  const { database } = tempDatabase(t);
  // Only memory is measured here, so failures need not wait for the disk.
  database.pragma("synchronous = OFF");
  const throttle = createThrottle(createSqliteThrottleStore(database), onePerson(), () => NOW);
  const guess = (email: string, address = "192.0.2.1") => throttle.attempt(address, email, wrong);
  for (let i = 0; i < FAILURES_PER_ADDRESS_AND_EMAIL; i++) await guess("victim@example.com");

  const before = liveMemory();
  for (let i = 0; i < EMAILS; i++) await guess(`flood-${i}@example.com`, `10.0.${i >> 8}.${i & 255}`);
  const after = liveMemory();
  const heapMb = (after.heapUsed - before.heapUsed) / 1e6;
  const rssMb = (after.rss - before.rss) / 1e6;
  t.diagnostic(`live heap grew by ${heapMb.toFixed(1)} MB, the process by ${rssMb.toFixed(1)} MB`);

  assert.ok(heapMb < MOST_HEAP_GROWTH_MB && rssMb < MOST_RSS_GROWTH_MB);
  await failsWith("too_many_attempts", guess("victim@example.com"));
});
