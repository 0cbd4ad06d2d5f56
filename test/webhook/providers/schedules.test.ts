import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { repeatsAllForSeconds } from "../../../src/webhook/provider.ts";
import { allProviders } from "../../../src/webhook/providers/index.ts";

const words = (text: string) => text.trim().split(/\s+/);

/** The presets whose schedule lists all intervals. */
const LISTED = words(`
  aftership alipay apple_app_store ashby aws_sns bigcommerce brevo chargebee checkout_com clerk contentful
  dwolla elevenlabs gumroad hook0 linear mailgun pipedrive postmark recurly resend revenuecat sanity slack svix
  typeform webflow wechat_pay zoom
`);
/** Those whose schedule says how long it is as a whole. */
const WHOLE = words(`
  adyen gemini instagram linkedin meta monday notion nylas onfleet openai paddle pagerduty paypal paystack plaid
  square whatsapp
`);
/** Those that repeat for a time that nobody has published, or that the receiver or the operator sets. */
const UNKNOWN = words(`
  airtable alertmanager anthropic auth0 azure_devops bitbucket bolt buymeacoffee circleci clickup configcat
  convoy datadog deel docusign dub etsy figma flutterwave front gocardless google_channels harbor hubspot
  intercom knock kofi livekit messenger okta outpost persona polar quickbooks telegram telnyx twitch
`);

const SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400 };
const UNIT = "(second|minute|hour|day)s?";
const inSeconds = (count: string | undefined, unit: string | undefined) =>
  Number(count) * SECONDS[unit as keyof typeof SECONDS];

/** The formulas of intervals. */
const FORMULAS: Record<string, (n: number) => number> = {
  "10 * (2^n - 1)": (n) => 10 * (2 ** n - 1),
  "10 + n * 2^(n + 5)": (n) => 10 + n * 2 ** (n + 5),
};

const BY_FORMULA = /, (?:about )?([^,]+) seconds after the one before, for n from (\d) to (\d)$/;
const EVEN = new RegExp(`^(\\d+) times, every (\\d+) ${UNIT}`);
const DOUBLED = new RegExp(`^(\\d+) times, first after (\\d+) ${UNIT}, then twice as long each time$`);
const SOME = `\\d+(?:, \\d+)*(?: and \\d+)? ${UNIT}`;
const LIST = new RegExp(`after (?<list>${SOME}(?:(?:,| and|, and) ${SOME})*)(?<rest>.*)$`);
const LAST = new RegExp(`^, then (\\d+) times after (\\d+) ${UNIT}$`);
/** What follows on a list that is not all. */
const GOES_ON = new RegExp(`^, then|\\d ${UNIT}`);

/** From the first to the last attempt, added up; null if a part of a schedule does not list all intervals. */
function addedUp(part: string): number | null {
  const [, terms, first, last] = BY_FORMULA.exec(part) ?? [];
  if (terms !== undefined) {
    let sum = 0;
    for (let n = Number(first); n <= Number(last); n++) sum += FORMULAS[terms]?.(n) ?? Number.NaN;
    return sum;
  }
  const [, times, every, unit] = EVEN.exec(part) ?? [];
  if (times !== undefined) return Number(times) * inSeconds(every, unit);
  const [, doublings, start, startUnit] = DOUBLED.exec(part) ?? [];
  if (doublings !== undefined) return (2 ** Number(doublings) - 1) * inSeconds(start, startUnit);
  const { list = "", rest = "" } = LIST.exec(part)?.groups ?? {};
  const [, more, each, eachUnit] = LAST.exec(rest) ?? [];
  if (list === "" || (more === undefined && GOES_ON.test(rest))) return null;
  const intervals = [...list.matchAll(new RegExp(`([\\d, and]+) ${UNIT}`, "g"))].flatMap(([, counts = "", of]) =>
    (counts.match(/\d+/g) ?? []).map((count) => inSeconds(count, of)),
  );
  const rounds = more === undefined ? 0 : Number(more) * inSeconds(each, eachUnit);
  return intervals.reduce((sum, interval) => sum + interval, rounds);
}

/** How long a schedule is as a whole, if it says so. */
function whole(schedule: string): number | null {
  const said = new RegExp(`(?:for|over|within) (a|\\d+) ${UNIT}`).exec(schedule);
  return said && inSeconds(said[1] === "a" ? "1" : said[1], said[2]);
}

const schedules = allProviders().flatMap(([name, { facts = {} }]) => {
  const schedule = facts.schedule?.is ?? "";
  const sums = schedule.split("; ").map(addedUp);
  const times = [facts.repeatsForSeconds?.is, ...Object.values(facts.repeatsByType?.is ?? {})];
  return facts.repeats?.is === "automatic" ? [{ name, facts, schedule, sums, times }] : [];
});
const named = (chosen: typeof schedules) => chosen.map(({ name }) => name);

suite("the schedules of providers", () => {
  const listed = schedules.filter(({ sums }) => sums.some((sum) => sum !== null));

  test("add up to the time for which the provider repeats, also by type", () => {
    for (const { name, sums, times } of listed)
      assert.deepEqual(
        sums.filter((sum) => sum !== null),
        times.filter((time) => time !== 0),
        name,
      );
    assert.deepEqual(named(listed), LISTED);
  });

  test("that say how long they are say what is known", () => {
    const said = schedules.filter((one) => !listed.includes(one) && whole(one.schedule) !== null);
    for (const { name, schedule, facts } of said) assert.equal(whole(schedule), facts.repeatsForSeconds?.is, name);
    assert.deepEqual(named(said), WHOLE);
  });

  test("are unknown of these only", () => {
    assert.deepEqual(named(schedules.filter(({ facts }) => facts.repeatsForSeconds === undefined)), UNKNOWN);
  });

  test("of types of events go with that of the others", () => {
    assert.deepEqual(
      allProviders().filter(([, { facts = {} }]) => facts.repeatsByType && !facts.repeatsForSeconds),
      [],
    );
  });
});

test("of a type that is unknown the shortest time counts", () => {
  const shortest = (name: string) => repeatsAllForSeconds(schedules.find((one) => one.name === name)?.facts);
  assert.deepEqual(["mailgun", "postmark", "resend", "dub"].map(shortest), [0, 1260, 99_305, undefined]);
  assert.deepEqual(["meta", "instagram", "messenger", "whatsapp"].map(shortest), [
    129_600,
    129_600,
    undefined,
    604_800,
  ]);
});
