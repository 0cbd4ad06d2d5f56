import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import type { ApiRequest } from "../../../src/webhook/provider/catch-up.ts";
import { apiDescription, createComparison } from "../../helpers/stand-ins/described.ts";
import { githubApi, gitlabApi, stripeApi } from "../../helpers/stand-ins/providers.ts";
import { answerJson, type DeliveryLog } from "../../helpers/stand-ins/stand-in.ts";
import { HOUR, openReceiver } from "./day.ts";
import { SENDERS } from "./senders.ts";

type Sender = Parameters<ReturnType<typeof openReceiver>["sender"]>[0];

/** Catches up after five missed events, and compares all requests and answers with the published description. */
async function compared(t: TestContext, sender: Sender, comparison: ReturnType<typeof createComparison>) {
  const { clock, state, sender: open } = openReceiver(t);
  const api = (log: DeliveryLog, now: () => number) => {
    const answer = sender.api(log, now);
    return async (request: ApiRequest) => {
      const answered = await answer(request);
      comparison.check(request, answered);
      return answered;
    };
  };
  const { emit, run, stored } = open({ ...sender, api, repeatsAfterMs: [] });
  state.isUp = false;
  for (let hour = 0; hour < 5; hour++) {
    await emit();
    clock.now += HOUR;
  }
  state.isUp = true;
  clock.now += 4 * 24 * HOUR;
  const { error } = await run({ since: clock.now - 6 * 24 * HOUR });
  assert.deepEqual([error, await stored()], [null, 5]);
}

const api = (path: string) => `https://api.github.com${path}`;
const lab = (path: string) => `https://gitlab.com/api/v4${path}`;
const endpoint = "https://api.stripe.com/v1/webhook_endpoints/we_1";

const WEBHOOKS: Record<keyof typeof SENDERS, Sender[]> = {
  github: [api("/repos/octocat/hello/hooks/1"), api("/orgs/octo/hooks/1"), api("/app/hook")].map((hook) => ({
    ...SENDERS.github,
    hook,
    api: (log) => githubApi(log, hook),
  })),
  gitlab: [lab("/projects/42/hooks/7"), lab("/groups/octo%2Fsub/hooks/7")].map((hook) => ({
    ...SENDERS.gitlab,
    hook,
    api: (log, now) => gitlabApi(log, hook, now),
  })),
  paypal: [SENDERS.paypal],
  stripe: [{ ...SENDERS.stripe, hook: endpoint, api: (log) => stripeApi(log, "https://api.stripe.com") }],
  svix: [SENDERS.svix],
};

suite("a catch-up sends and reads what the provider's published description has:", () => {
  for (const [provider, webhooks] of Object.entries(WEBHOOKS))
    test(provider, async (t) => {
      const comparison = createComparison(apiDescription(provider));
      for (const webhook of webhooks) await compared(t, webhook, comparison);
      assert.deepEqual(comparison.differences, []);
      assert.deepEqual(comparison.unused(), []);
    });
});

test("a request or an answer that differs from the description is found", () => {
  const { check, differences } = createComparison(apiDescription("gitlab"));
  const events = `${SENDERS.gitlab.hook}/events`;
  check({ url: `${events}?per_page=21&since=1` }, answerJson([{ id: "1" }]));
  check({ url: `${events}/1/resend`, body: "{}" }, answerJson({ status: 200 }, 200));
  check({ url: `${SENDERS.gitlab.hook}/deliveries` }, answerJson([]));
  assert.deepEqual(
    differences.map((text) => text.replace(/^\w+ \S+: /, "")),
    [
      "parameter per_page: data/value must be <= 20",
      "there is no parameter since",
      "the answer: data/0 must have required property 'url'",
      "it has content of type application/json",
      "it does not answer with 200",
      "there is no such request",
    ],
  );
});

suite("an answer that the provider has published is read:", () => {
  const open = (provider: "github" | "gitlab") => {
    const { adapter, origin, hook } = SENDERS[provider];
    const settings = { origin, hook, token: "a-token", app: null, everyMs: null, windowMs: 1, maxPerRun: 1 };
    return adapter.open(
      { ...settings, routes: false },
      () => Promise.reject(new Error("nothing is to be sent")),
      () => 0,
    );
  };
  const exampleOf = (provider: string) => apiDescription(provider).operations.find(({ example }) => example)?.example;

  test("github", async () => {
    const { readPage } = await open("github");
    const { listed, next } = readPage({ headers: {}, text: "", json: exampleOf("github") });
    const guid = "0b989ba4-242f-11e5-81e1-c7b6966d2516";
    const at = Date.UTC(2019, 5, 3, 0, 57, 16);
    assert.deepEqual(listed, [
      { item: guid, id: "12345678", at, outcome: "delivered", eventId: guid },
      { item: guid, id: "123456789", at: at + 24 * HOUR, outcome: "delivered", eventId: guid },
    ]);
    assert.equal(next, null);
  });

  test("gitlab", async () => {
    const { readPage } = await open("gitlab");
    const { listed } = readPage({ headers: {}, text: "", json: exampleOf("gitlab") });
    const eventId = "3a427872-00df-429c-9bc9-a9475de2efe4";
    assert.deepEqual(listed, [{ item: eventId, id: "1", at: null, outcome: "delivered", eventId }]);
  });
});
