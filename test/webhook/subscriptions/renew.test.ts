import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { suite, type TestContext, test } from "node:test";
import { localStores } from "../../../src/sqlite/stores.ts";
import { createApi } from "../../../src/webhook/catch-up/api.ts";
import type { ApiRequest } from "../../../src/webhook/provider/catch-up.ts";
import { GOOGLE_ORIGINS } from "../../../src/webhook/subscriptions/google.ts";
import { GRAPH_ORIGINS } from "../../../src/webhook/subscriptions/ms-graph.ts";
import { renewIfDue } from "../../../src/webhook/subscriptions/renew.ts";
import type { RenewSettings } from "../../../src/webhook/subscriptions/renewal.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { newEvent } from "../../helpers/events.ts";
import { apiDescription, createComparison } from "../../helpers/stand-ins/described.ts";
import { answerJson, NOT_FOUND, type StandInAnswer } from "../../helpers/stand-ins/stand-in.ts";

const START = 1_800_000_000_000;
const HOUR = 3_600_000;

/** A source whose subscription is renewed at a stand-in for its provider, by a clock that the test moves. */
function open(t: TestContext, settings: RenewSettings, answer: (request: ApiRequest, now: number) => StandInAnswer) {
  const { subscriptions, events } = localStores(tempDatabase(t).database);
  const clock = { now: START };
  const requests: { method: string; path: string; body: string }[] = [];
  let ids = 0;
  const { check, differences } = createComparison(apiDescription(settings.kind));
  t.after(() => assert.deepEqual(differences, []));
  const send = createApi({
    origins: [settings.origins.auth, settings.origins.api],
    async send(request) {
      const { pathname } = new URL(request.url);
      requests.push({ method: request.method ?? "POST", path: pathname, body: request.body ?? "" });
      const answered = answer(request, clock.now);
      check(request, answered);
      return { ...answered, isCut: false };
    },
    wait: async () => {},
    now: () => clock.now,
  });
  const renew = () =>
    renewIfDue({ subscriptions, events }, "s", {
      settings,
      notificationUrl: "https://hooks.example/webhook/s",
      secret: "a-client-state",
      send,
      now: clock.now,
      newId: () => `channel-${++ids}`,
    });
  const paths = () => requests.splice(0).map(({ method, path }) => `${method} ${path}`);
  return { clock, events, renew, requests, paths, stored: () => subscriptions.read("s") };
}

const GRAPH: RenewSettings = {
  kind: "ms_graph",
  token: "a-client-secret",
  origins: GRAPH_ORIGINS,
  lifeMs: 48 * HOUR,
  tenant: "a-tenant",
  client: "an-app",
  resource: "users/ada/messages",
  changeType: "created",
  subscription: null,
  lifecycle: false,
  watch: null,
  subject: null,
};

/** A stand-in for Microsoft Graph, written from its reference of subscriptions. */
function graph() {
  const state = { known: new Set<string>(), isDown: false, made: 0 };
  const answer = ({ url, method, headers = {}, body = "" }: ApiRequest): StandInAnswer => {
    const { pathname } = new URL(url);
    if (pathname.endsWith("/oauth2/v2.0/token")) {
      const isRight = new URLSearchParams(body).get("client_secret") === "a-client-secret";
      return isRight && !state.isDown ? answerJson({ access_token: "at", expires_in: 3599 }) : answerJson({}, 401);
    }
    if (headers.authorization !== "Bearer at") return answerJson({}, 401);
    const sent = JSON.parse(body);
    if (method === "PATCH") {
      const id = pathname.split("/").at(-1) ?? "";
      return state.known.has(id) ? answerJson({ id, ...sent }) : NOT_FOUND;
    }
    const id = `sub-${++state.made}`;
    state.known.add(id);
    return answerJson({ id, ...sent }, 201);
  };
  return { state, answer };
}

suite("a subscription of Microsoft Graph", () => {
  test("is made, prolonged at a third of its life, and made again if it is gone", async (t) => {
    const { state, answer } = graph();
    const { clock, renew, requests, paths } = open(t, GRAPH, answer);
    assert.equal((await renew())?.id, "sub-1");
    assert.deepEqual(JSON.parse(requests[1]?.body ?? ""), {
      changeType: "created",
      notificationUrl: "https://hooks.example/webhook/s",
      resource: "users/ada/messages",
      expirationDateTime: new Date(START + 48 * HOUR).toISOString(),
      clientState: "a-client-state",
    });
    requests.length = 0;
    clock.now += 16 * HOUR - 1;
    assert.equal(await renew(), null);
    clock.now += 1;
    assert.equal((await renew())?.expiresAt, START + 64 * HOUR);
    assert.deepEqual(paths(), ["POST /a-tenant/oauth2/v2.0/token", "PATCH /v1.0/subscriptions/sub-1"]);
    state.known.clear();
    clock.now += 16 * HOUR;
    assert.equal((await renew())?.id, "sub-2");
    assert.deepEqual(paths().slice(1), ["PATCH /v1.0/subscriptions/sub-1", "POST /v1.0/subscriptions"]);
  });

  test("that was renewed by a clock that was ahead is renewed by the right one", async (t) => {
    const { answer } = graph();
    const { clock, renew } = open(t, GRAPH, answer);
    clock.now += 1000 * HOUR;
    await renew();
    clock.now = START;
    assert.equal((await renew())?.expiresAt, START + 48 * HOUR);
  });

  // https://github.com/microsoftgraph/nodejs-webhooks-sample/issues/504
  for (const [notice, made] of [
    ["reauthorizationRequired", "PATCH /v1.0/subscriptions/sub-1"],
    ["subscriptionRemoved", "POST /v1.0/subscriptions"],
  ] as const) {
    test(`is renewed at once after ${notice}`, async (t) => {
      const { state, answer } = graph();
      const { clock, events, renew, requests, paths } = open(t, { ...GRAPH, lifecycle: true }, answer);
      await renew();
      const { lifecycleNotificationUrl } = JSON.parse(requests[1]?.body ?? "");
      assert.equal(lifecycleNotificationUrl, "https://hooks.example/webhook/s");
      paths();
      clock.now += 60_000;
      assert.equal(await renew(), null);
      if (notice === "subscriptionRemoved") state.known.clear();
      await events.append([newEvent({ source: "s", type: notice, receivedAt: clock.now })]);
      assert.equal((await renew())?.error, null);
      assert.equal(paths().at(-1), made);
      clock.now += 1000;
      assert.equal(await renew(), null);
    });
  }

  test("that is there already is prolonged", async (t) => {
    const { state, answer } = graph();
    state.known.add("known");
    const { renew, paths } = open(t, { ...GRAPH, subscription: "known" }, answer);
    assert.equal((await renew())?.id, "known");
    assert.equal(paths()[1], "PATCH /v1.0/subscriptions/known");
  });

  test("that cannot be renewed keeps its end, says why without the credential, and is tried again", async (t) => {
    const { state, answer } = graph();
    const { clock, renew, stored } = open(t, GRAPH, answer);
    await renew();
    state.isDown = true;
    clock.now += 16 * HOUR;
    await renew();
    const { error, expiresAt } = (await stored()) ?? {};
    assert.deepEqual([error, expiresAt], ["POST /a-tenant/oauth2/v2.0/token: the answer was 401", START + 48 * HOUR]);
    clock.now += 299_999;
    assert.equal(await renew(), null);
    state.isDown = false;
    clock.now += 1;
    assert.equal((await renew())?.error, null);
  });
});

test("a channel of Google is opened anew before the one before is ended", async (t) => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  const settings: RenewSettings = {
    ...GRAPH,
    kind: "google_channels",
    token: JSON.stringify({ client_email: "hooks@project.iam.gserviceaccount.com", private_key: key }),
    origins: GOOGLE_ORIGINS,
    lifeMs: 24 * HOUR,
    watch: "https://www.googleapis.com/drive/v3/changes/watch?pageToken=1",
  };
  const { clock, renew, requests, paths } = open(t, settings, ({ url, body = "" }) => {
    const { pathname } = new URL(url);
    if (pathname === "/token") return answerJson({ access_token: "at", expires_in: 3599 });
    if (pathname.endsWith("/channels/stop")) return { status: 204, headers: {}, text: "" };
    const { id, expiration } = JSON.parse(body);
    return answerJson({ kind: "api#channel", id, resourceId: `resource-of-${id}`, expiration });
  });
  assert.deepEqual((await renew())?.expiresAt, START + 24 * HOUR);
  assert.deepEqual(JSON.parse(requests[1]?.body ?? ""), {
    id: "channel-1",
    type: "web_hook",
    address: "https://hooks.example/webhook/s",
    token: "a-client-state",
    expiration: String(START + 24 * HOUR),
  });
  requests.length = 0;
  clock.now += 8 * HOUR;
  assert.equal((await renew())?.id, "channel-2");
  assert.deepEqual(JSON.parse(requests[2]?.body ?? ""), { id: "channel-1", resourceId: "resource-of-channel-1" });
  assert.deepEqual(paths(), ["POST /token", "POST /drive/v3/changes/watch", "POST /drive/v3/channels/stop"]);
});
