import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR, openReceiver } from "./day.ts";
import { SENDERS } from "./senders.ts";

const OUTAGE_FROM = 3;
const OUTAGE_TO = 27;
const ALL_HOURS = 31;
const NAMES = ["github", "gitlab", "stripe", "svix"] as const;

/**
 * A receiver is away for a day, in which four providers send an event an hour each. They are stand-ins, which repeat as
 * their presets say. Returns how many events of each are missing: at the end of the outage, after all repeats of the
 * providers themselves, and after a catch-up too.
 */
async function simulate(t: Parameters<typeof openReceiver>[0]) {
  const receiver = openReceiver(t);
  const { clock, state } = receiver;
  const senders = NAMES.map((name) => receiver.sender(SENDERS[name]));
  const missing = async () => {
    const counts = await Promise.all(senders.map(async ({ log, stored }) => log.events.length - (await stored())));
    return Object.fromEntries(NAMES.map((name, index) => [name, counts[index]]));
  };
  const tick = async () => {
    for (const { log } of senders) await log.tick();
    clock.now += HOUR / 4;
  };
  for (let hour = 0; hour < ALL_HOURS; hour++) {
    state.isUp = hour < OUTAGE_FROM || hour >= OUTAGE_TO;
    for (const { emit } of senders) await emit();
    for (let quarter = 0; quarter < 4; quarter++) await tick();
  }
  const after = await missing();
  return { receiver, senders, missing, after, tick };
}

test("without a catch-up, a day away loses what the providers do not repeat; with it, each event is stored once", async (t) => {
  const { senders, missing, after, tick } = await simulate(t);
  const results = [];
  for (const { run } of senders) results.push(await run());
  const caughtUp = await missing();
  for (let quarter = 0; quarter < 4 * 4 * 24; quarter++) await tick();
  const inTheEnd = await missing();
  t.diagnostic(`events missed of 24 each, 4 hours after the outage: ${JSON.stringify(after)}`);
  t.diagnostic(`after a catch-up: ${JSON.stringify(caughtUp)}; 4 days later: ${JSON.stringify(inTheEnd)}`);
  assert.deepEqual({ github: after.github, gitlab: after.gitlab }, { github: 24, gitlab: 24 });
  assert.deepEqual(
    { github: caughtUp.github, gitlab: caughtUp.gitlab, svix: caughtUp.svix },
    { github: 0, gitlab: 0, svix: 0 },
  );
  assert.deepEqual(inTheEnd, { github: 0, gitlab: 0, stripe: 0, svix: 0 });
  assert.ok(results.every(({ error, failed }) => error === null && failed === 0));
});

test("without a catch-up, what GitHub and GitLab could not deliver never comes", async (t) => {
  const { missing, tick } = await simulate(t);
  for (let quarter = 0; quarter < 4 * 4 * 24; quarter++) await tick();
  const inTheEnd = await missing();
  t.diagnostic(`events missed of 24 each, 4 days after the outage, without a catch-up: ${JSON.stringify(inTheEnd)}`);
  assert.deepEqual(inTheEnd, { github: 24, gitlab: 24, stripe: 0, svix: 0 });
});
