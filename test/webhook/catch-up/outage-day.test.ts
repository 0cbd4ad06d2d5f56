import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { HOUR, openReceiver } from "./day.ts";
import { SENDERS } from "./senders.ts";

const PAGE = join(import.meta.dirname, "../../../docs/catch-up.md");

const OUTAGE_FROM = 3;
const OUTAGE_TO = 27;
const ALL_HOURS = 31;
const NAMES = ["github", "gitlab", "paypal", "stripe", "svix"] as const;

type Missing = Record<(typeof NAMES)[number], number>;

/**
 * A receiver is away for a day, in which each provider sends an event an hour. The providers are stand-ins, which
 * repeat as their presets say. `missing` counts the events that are not stored exactly once.
 */
async function openDay(t: TestContext) {
  const { clock, state, sender } = openReceiver(t);
  const senders = NAMES.map((name) => sender(SENDERS[name]));
  const missing = async () => {
    const counts = await Promise.all(senders.map(async ({ log, stored }) => log.events.length - (await stored())));
    return Object.fromEntries(NAMES.map((name, index) => [name, counts[index]])) as Missing;
  };
  const pass = async (hours: number) => {
    for (let quarter = 0; quarter < hours * 4; quarter++) {
      for (const { log } of senders) await log.tick();
      clock.now += HOUR / 4;
    }
  };
  for (let hour = 0; hour < ALL_HOURS; hour++) {
    state.isUp = hour < OUTAGE_FROM || hour >= OUTAGE_TO;
    for (const { emit } of senders) await emit();
    await pass(1);
  }
  return { senders, missing, pass };
}

/** A line of the table in docs/catch-up.md. */
const lineOf = (label: string, missing: Missing) => `| ${[label, ...NAMES.map((name) => missing[name])].join(" | ")} |`;

test("after a day away a catch-up gets every event that was missed, each once, as docs/catch-up.md says", async (t) => {
  const without = await openDay(t);
  const rows = [lineOf("4 hours after the outage, without a catch-up", await without.missing())];
  await without.pass(4 * 24);
  rows.push(lineOf("4 days after, without a catch-up", await without.missing()));

  const { senders, missing, pass } = await openDay(t);
  const results = [];
  for (const { run } of senders) results.push(await run());
  rows.push(lineOf("right after a catch-up", await missing()));
  await pass(4 * 24);
  const inTheEnd = await missing();
  rows.push(lineOf("4 days after, with a catch-up", inTheEnd));

  assert.deepEqual(inTheEnd, { github: 0, gitlab: 0, paypal: 0, stripe: 0, svix: 0 });
  assert.ok(results.every(({ error, failed }) => error === null && failed === 0));
  const page = readFileSync(PAGE, "utf8");
  assert.deepEqual(
    rows.filter((row) => !page.includes(row)),
    [],
  );
});
