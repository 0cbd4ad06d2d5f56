import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { originOf } from "../../../src/events/captured.ts";
import { ApiError } from "../../../src/webhook/catch-up/api.ts";
import type { ApiRequest } from "../../../src/webhook/provider/catch-up.ts";
import { newEvent } from "../../helpers/events.ts";
import { svixApi } from "../../helpers/stand-ins/providers.ts";
import { type DeliveryLog, NOT_FOUND } from "../../helpers/stand-ins/stand-in.ts";
import { HOUR, openReceiver, START } from "./day.ts";
import { SENDERS } from "./senders.ts";

/** Lets a sender send an event an hour, while the receiver is up or not. */
async function hours(receiver: ReturnType<typeof openReceiver>, sender: { emit(): Promise<unknown> }, count: number) {
  for (let hour = 0; hour < count; hour++) {
    await sender.emit();
    receiver.clock.now += HOUR;
  }
}

/** A receiver that was up for 2 hours, away for 4, and is up again for 1. */
async function openAfterOutage(t: TestContext, name: keyof typeof SENDERS, changes = {}) {
  const receiver = openReceiver(t);
  const sender = receiver.sender({ ...SENDERS[name], ...changes });
  await hours(receiver, sender, 2);
  receiver.state.isUp = false;
  await hours(receiver, sender, 4);
  receiver.state.isUp = true;
  await hours(receiver, sender, 1);
  return { receiver, sender };
}

const NOTHING = { listed: 0, seen: 0, redelivered: 0, captured: 0, failed: 0, left: 0, refusal: null, error: null };

suite("a catch-up gets what was missed, each once:", () => {
  for (const name of ["github", "gitlab", "svix", "paypal"] as const) {
    test(`${name} delivers again`, async (t) => {
      const { receiver, sender } = await openAfterOutage(t, name, { repeatsAfterMs: [] });
      assert.equal(await sender.stored(), 3);
      assert.deepEqual(await sender.run({ isDryRun: true }), { ...NOTHING, listed: 7, seen: 3, redelivered: 4 });
      assert.equal(await sender.stored(), 3);
      assert.deepEqual(await sender.run(), { ...NOTHING, listed: 7, seen: 3, redelivered: 4 });
      assert.equal(await sender.stored(), 7);
      receiver.clock.now += 1000;
      const again = await sender.run();
      assert.deepEqual([again.redelivered, again.left, again.seen], [0, 0, again.listed]);
      assert.equal(sender.log.attempts.length, 11);
    });
  }

  test("stripe only lists, and what it has given up is stored, as signed by nobody", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "stripe");
    assert.deepEqual(await sender.run(), { ...NOTHING, listed: 4, left: 4 });
    receiver.clock.now = START + 5 * 24 * HOUR;
    assert.deepEqual(await sender.run(), { ...NOTHING, listed: 4, captured: 4 });
    assert.equal(await sender.stored(), 7);
    const [event] = await receiver.events.get("stripe_0003", "stripe");
    assert.deepEqual(
      [event?.secret, event?.type, originOf(event?.secret ?? "")],
      ["api:api.stripe.com", "payment_intent.succeeded", "api"],
    );
    assert.equal(Buffer.from(event?.payload ?? []).toString(), sender.log.events[2]?.body);
    assert.deepEqual(await sender.run({ since: START }), { ...NOTHING, listed: 4, seen: 4 });
    const [unrouted] = (await receiver.events.pending(10)).filter(({ isCaptured }) => isCaptured);
    assert.equal(unrouted?.source, "stripe");
  });

  test("stripe's list changes while it is read: nothing is left out, and nothing is stored twice", async (t) => {
    const receiver = openReceiver(t);
    let pages = 0;
    const sender = receiver.sender({
      ...SENDERS.stripe,
      settings: { ...SENDERS.stripe.settings, routes: true },
      api(log) {
        const answer = SENDERS.stripe.api(log);
        return async (request) => {
          const answered = await answer(request);
          if (!request.url.includes("/v1/events?")) return answered;
          // After each page, the event of the cursor arrives, and others before and after it; and a new one fails.
          const listed = (JSON.parse(answered.text) as { data: { id: string }[] }).data;
          const last = log.events.findIndex(({ id }) => id === listed.at(-1)?.id);
          for (const index of [last, last - 3, last + 3]) await log.redeliver(log.events[index] ?? assert.fail());
          receiver.state.isUp = false;
          if (pages++ < 3) await sender.emit();
          receiver.state.isUp = true;
          return answered;
        };
      },
    });
    receiver.state.isUp = false;
    for (let n = 0; n < 350; n++) {
      await sender.emit();
      receiver.clock.now += 60_000;
    }
    receiver.state.isUp = true;
    const first = await sender.run();
    assert.deepEqual([first.failed, first.error], [0, null]);
    assert.ok(pages > 10 && first.seen > 0 && first.captured > 50, JSON.stringify({ pages, ...first }));
    assert.equal(await sender.stored(), 350);
    assert.equal((await sender.run()).failed, 0);
    assert.equal(await sender.stored(), 353);
  });

  test("what is read from an API is redacted as a delivery is", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "stripe");
    receiver.clock.now = START + 5 * 24 * HOUR;
    assert.equal((await sender.run({ redact: [["data"]] })).captured, 4);
    const [event] = await receiver.events.get("stripe_0003", "stripe");
    assert.equal(JSON.parse(Buffer.from(event?.payload ?? []).toString()).data, "[redacted]");
  });

  test("with routes, what stripe lists is stored at once, and its late delivery kept beside it", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "stripe", {
      settings: { routes: true, windowMs: 72 * HOUR },
    });
    assert.equal((await sender.run()).captured, 4);
    const late = { source: "stripe", eventId: "stripe_0003", payload: Buffer.from("its signed body") };
    assert.deepEqual(await receiver.events.append([newEvent(late)]), [{ duplicate: true, conflict: true }]);
  });
});

suite("a catch-up", () => {
  test("asks for an event three times at most, with a rest between", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "github");
    receiver.state.isUp = false;
    const results = [];
    for (let n = 0; n < 5; n++) {
      results.push(await sender.run());
      receiver.clock.now += n === 0 ? 60_000 : HOUR;
    }
    assert.deepEqual(
      results.map(({ redelivered, left, failed }) => [redelivered, left, failed]),
      [
        [4, 0, 0],
        [0, 4, 0],
        [4, 0, 0],
        [4, 0, 0],
        [0, 0, 4],
      ],
    );
  });

  test("goes on where it was broken off, and asks for nothing twice", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "github");
    let requests = 0;
    const broken = await sender.run({ goesOn: async () => ++requests <= 6 });
    assert.equal(broken.error, "broken off");
    assert.ok(broken.redelivered > 0 && broken.redelivered < 4);
    assert.equal((await receiver.catchUps.state("github"))?.coveredUntil, null);
    const { redelivered, error } = await sender.run();
    assert.deepEqual([broken.redelivered + redelivered, error], [4, null]);
    assert.equal(await sender.stored(), 7);
    assert.equal(sender.log.attempts.length, 11);
  });

  test("asks for at most so many events in one run, the oldest first", async (t) => {
    const { sender } = await openAfterOutage(t, "github", { settings: { maxPerRun: 3 } });
    assert.deepEqual(await sender.run(), { ...NOTHING, listed: 7, seen: 3, redelivered: 3, left: 1 });
    assert.equal(sender.log.hasArrived(sender.log.events[2] as never), true);
    assert.deepEqual(await sender.run(), { ...NOTHING, listed: 5, seen: 4, redelivered: 1 });
  });

  test("looks back to the end of the run before, with an overlap, and to what has not come yet", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "github");
    await sender.run();
    await hours(receiver, sender, 3);
    assert.equal((await sender.run()).listed, 5 + 3);
    receiver.clock.now += 1000;
    assert.equal((await sender.run()).listed, 0);
    receiver.clock.now += HOUR;
    await sender.emit();
    assert.equal((await sender.run()).listed, 1);
    assert.equal((await sender.run({ since: START })).listed, 11);
  });

  test("after a clock that was ahead looks back as at first, and asks again", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "github");
    const { now } = receiver.clock;
    const ahead = now + 6 * 24 * HOUR;
    receiver.clock.now = ahead;
    assert.equal((await sender.run()).listed, 0);
    for (const { id } of sender.log.events)
      await receiver.catchUps.claim("github", { item: id, at: now }, { now: ahead, most: 3, restMs: 1 });
    receiver.clock.now = now;
    assert.equal((await sender.run()).redelivered, 4);
    assert.equal(await sender.stored(), 7);
  });

  // https://github.com/Subscribie/subscribie/issues/1386
  test("gets what was delivered and then lost, if all is asked for", async (t) => {
    for (const [name, without, all] of [
      ["github", { redelivered: 0, seen: 7 }, { redelivered: 7, seen: 0 }],
      ["stripe", { captured: 4, seen: 0 }, { captured: 3, seen: 4 }],
    ] as const) {
      const { sender } = await openAfterOutage(t, name, { settings: { routes: true } });
      await sender.run();
      // A restore from a backup that has nothing yet.
      const { events, catchUps: store } = openReceiver(t);
      const lost = { events, store, since: START };
      assert.partialDeepStrictEqual(await sender.run(lost), without, name);
      assert.partialDeepStrictEqual(await sender.run({ ...lost, isAll: true }), all, name);
    }
  });

  // https://github.com/ubicloud/ubicloud/pull/1468
  test("says so if the provider has more pages than are read, and covers nothing", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "github");
    const next = { url: "https://api.github.com/repos/octocat/hello/hooks/1/deliveries" };
    const endless = {
      ...SENDERS.github.adapter,
      open: async () => ({ firstPage: () => next, readPage: () => ({ listed: [], next }) }),
    };
    const { error } = await sender.run({ adapter: endless, send: async () => ({ headers: {}, text: "", json: [] }) });
    assert.match(String(error), /^the provider lists more than 2000 pages: shorten the window$/);
    assert.equal((await receiver.catchUps.state("github"))?.coveredUntil, null);
  });

  test("waits where the provider limits the rate", async (t) => {
    const receiver = openReceiver(t);
    const sender = receiver.sender(SENDERS.gitlab);
    receiver.state.isUp = false;
    await hours(receiver, sender, 12);
    receiver.state.isUp = true;
    assert.equal((await sender.run()).redelivered, 12);
    assert.deepEqual(sender.waits, [60_000, 60_000]);
    assert.equal(await sender.stored(), 12);
  });

  test("ends at a wrong credential, says so without it, and covers nothing", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "github", { settings: { token: "a-wrong-secret" } });
    const { error, redelivered } = await sender.run();
    assert.equal(
      error,
      "GET /repos/octocat/hello/hooks/1/deliveries: the answer was 401: catchUp.token must be " +
        "a token with the permission to write webhooks, or with app: the private key of the app",
    );
    assert.equal(redelivered, 0);
    assert.equal((await receiver.catchUps.state("github"))?.coveredUntil, null);
  });

  // PayPal: "Any pending notifications are not resent" (notifications_webhooks_v1.json 1.11).
  test("asks once for what the provider still repeats, and again when it has given up", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "paypal", { repeatsAfterMs: [2 * HOUR, 22 * HOUR] });
    assert.deepEqual(await sender.run(), { ...NOTHING, listed: 7, seen: 3, redelivered: 4 });
    assert.equal(await sender.stored(), 3);
    for (let hour = 0; hour < 17; hour++) {
      receiver.clock.now += HOUR;
      assert.equal((await sender.run()).left, 4);
    }
    receiver.state.isUp = false;
    receiver.clock.now += 8 * HOUR;
    await sender.log.tick();
    receiver.clock.now += 22 * HOUR;
    await sender.log.tick();
    receiver.state.isUp = true;
    assert.equal((await sender.run()).redelivered, 4);
    assert.equal(await sender.stored(), 7);
  });

  test("looks back further than its window for what is still open, and to the end of the run before", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "stripe", { settings: { windowMs: 72 * HOUR } });
    assert.equal((await sender.run()).left, 4);
    receiver.clock.now = START + 5 * 24 * HOUR;
    assert.equal((await sender.run()).captured, 4);
    receiver.state.isUp = false;
    await sender.emit();
    receiver.clock.now += 5 * 24 * HOUR;
    assert.equal((await sender.run()).captured, 1);
  });

  // An event that was too large has this instead of its payload: app/models/hooks/web_hook_log.rb of gitlabhq/gitlabhq.
  test("never asks for an event whose payload the provider has not kept", async (t) => {
    const { sender } = await openAfterOutage(t, "gitlab", { bodyOf: () => '{"oversize":true}' });
    const { refusal, ...counts } = await sender.run();
    assert.deepEqual({ ...counts, refusal: null }, { ...NOTHING, listed: 7, seen: 3, failed: 4 });
    assert.match(String(refusal), /^the provider has not kept/);
  });

  test("ends without a try when the provider delivers nothing, and says what to do", async (t) => {
    const { receiver, sender } = await openAfterOutage(t, "gitlab");
    const disabled = new ApiError("POST /resend: the answer was 422", 422, { reason: "Hook disabled" });
    const send = { ...SENDERS.gitlab }.api(sender.log, () => receiver.clock.now);
    const { error, failed } = await sender.run({
      async send(request) {
        if (request.method === "POST") throw disabled;
        const { text, headers } = await send(request);
        return { headers, text, json: JSON.parse(text) };
      },
    });
    assert.match(String(error), /\(Hook disabled\): GitLab has disabled the webhook: send a test request/);
    assert.equal(failed, 0);
    assert.deepEqual(
      (await receiver.catchUps.items("gitlab")).map(({ tries }) => tries),
      [0],
    );
  });

  // https://github.com/joemccann/radon/pull/282
  test("with Svix gets what was not attempted while the endpoint was disabled", async (t) => {
    let isDisabled = false;
    const api = (log: DeliveryLog) => svixApi(log, SENDERS.svix.hook, () => isDisabled);
    const { receiver, sender } = await openAfterOutage(t, "svix", { api });
    await sender.run();
    isDisabled = true;
    const id = SENDERS.svix.idOf("9999");
    sender.log.hold({ id, at: receiver.clock.now, type: "push", body: "{}" });
    receiver.clock.now += 6 * 24 * HOUR;
    assert.match(String((await sender.run()).error), /^the endpoint is disabled at Svix: enable it there/);
    isDisabled = false;
    assert.equal((await sender.run({ isDryRun: true })).error, null);
    assert.equal((await receiver.events.get(id, "svix")).length, 0);
    assert.equal((await sender.run()).error, null);
    assert.equal((await receiver.events.get(id, "svix")).length, 1);
    receiver.clock.now += HOUR;
    sender.requests.length = 0;
    await sender.run();
    assert.ok(sender.requests.every(({ url }) => !url.endsWith("/replay-missing")));
  });

  test("with a Svix server that cannot deliver what was not attempted ends well", async (t) => {
    const api = (log: DeliveryLog) => {
      const answer = svixApi(log, SENDERS.svix.hook);
      return async (request: ApiRequest) => (request.url.endsWith("/replay-missing") ? NOT_FOUND : answer(request));
    };
    const { sender } = await openAfterOutage(t, "svix", { api });
    assert.deepEqual(await sender.run(), { ...NOTHING, listed: 7, seen: 3, redelivered: 4 });
  });

  for (const [broken, expected] of [
    [1, { redelivered: 3, failed: 1, isBrokenOff: false }],
    [4, { redelivered: 0, failed: 2, isBrokenOff: true }],
  ] as const) {
    test(`goes on if the provider fails at ${broken} of 4 events, unless at three in a row`, async (t) => {
      const failing = new Set<string>();
      let isWell = false;
      const { sender } = await openAfterOutage(t, "github", {
        api(...options: Parameters<typeof SENDERS.github.api>) {
          const answer = SENDERS.github.api(...options);
          return async (request: ApiRequest) => {
            if (isWell || !request.url.endsWith("/attempts")) return answer(request);
            if (failing.size < broken) failing.add(request.url);
            return failing.has(request.url) ? { status: 502, headers: {}, text: "" } : answer(request);
          };
        },
      });
      const { redelivered, failed, error } = await sender.run();
      assert.deepEqual({ redelivered, failed, isBrokenOff: error !== null }, expected);
      isWell = true;
      assert.equal((await sender.run()).redelivered, 4 - expected.redelivered);
      assert.equal(await sender.stored(), 7);
    });
  }

  test("leaves out an event that the provider refuses to repeat, and goes on with the others", async (t) => {
    const { sender } = await openAfterOutage(t, "svix");
    sender.log.events.splice(2, 1);
    const { failed, redelivered, refusal, error } = await sender.run();
    assert.deepEqual([failed, redelivered, error], [1, 3, null]);
    assert.match(String(refusal), /^POST \S+\/resend: the answer was 404 \(Not Found\)$/);
  });
});
