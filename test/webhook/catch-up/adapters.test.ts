import assert from "node:assert/strict";
import { createVerify, generateKeyPairSync } from "node:crypto";
import { suite, test } from "node:test";
import { catchUpOf } from "../../../src/webhook/catch-up/adapters.ts";
import { isDue } from "../../../src/webhook/catch-up/decide.ts";
import type { CatchUpSettings } from "../../../src/webhook/provider/catch-up.ts";
import { providerOf } from "../../../src/webhook/providers/index.ts";
import { paypalApi, paypalEvent, stripeApi, stripeEvent } from "../../helpers/stand-ins/providers.ts";
import { openReceiver } from "./day.ts";
import { adapterOf, SENDERS } from "./senders.ts";

const NOW = 1_800_000_000_000;

const settings = (changes: Partial<CatchUpSettings>): CatchUpSettings => ({
  origin: "https://api.github.com",
  hook: "https://api.github.com/app/hook",
  token: "a-token",
  app: null,
  everyMs: null,
  windowMs: 1,
  maxPerRun: 1,
  routes: false,
  ...changes,
});

const unsent = () => Promise.reject(new Error("nothing is to be sent"));

suite("how a source catches up", () => {
  test("is as its provider does, as Svix if it signs so, or not at all", () => {
    const of = (preset: string) => catchUpOf({ preset, schemes: providerOf(preset)?.schemes ?? [] })?.docs;
    assert.equal(of("github"), adapterOf("github").docs);
    assert.equal(of("svix"), adapterOf("svix").docs);
    assert.equal(of("clerk"), adapterOf("svix").docs);
    assert.equal(of("shopify"), undefined);
    assert.equal(catchUpOf({ preset: null, schemes: [] }), undefined);
  });

  test("with GitHub may be as an app, which signs its token with its key for ten minutes at most", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const token = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    let now = NOW;
    const session = await adapterOf("github").open(settings({ token, app: "12345" }), unsent, () => now);
    const { url, headers } = session.firstPage(0, NOW);
    assert.equal(url, "https://api.github.com/app/hook/deliveries?per_page=100");
    const [header = "", claims = "", signature = ""] = (headers?.authorization ?? "").replace("Bearer ", "").split(".");
    assert.ok(createVerify("RSA-SHA256").update(`${header}.${claims}`).verify(publicKey, signature, "base64url"));
    const { iss, iat, exp } = JSON.parse(Buffer.from(claims, "base64url").toString());
    assert.equal(iss, "12345");
    assert.ok(iat < NOW / 1000 && exp > NOW / 1000 && exp - iat <= 600);
    now += 3_600_000;
    const later = session.redeliver?.({ item: "g", id: "1", at: NOW, outcome: "failed", eventId: "g" });
    const [, renewed = ""] = later?.headers?.authorization?.split(".") ?? [];
    assert.equal(JSON.parse(Buffer.from(renewed, "base64url").toString()).iat, iat + 3600);
  });

  test("asks for a delivery by its id, which cannot lead to another path", async () => {
    const hooks = {
      github: "https://api.github.com/repos/o/r/hooks/1",
      gitlab: "https://gitlab.com/api/v4/projects/1/hooks/1",
      svix: "https://api.svix.com/api/v1/app/a/endpoint/e",
      paypal: "https://api-m.paypal.com/v1/notifications/webhooks/w",
    };
    for (const [preset, hook] of Object.entries(hooks)) {
      const adapter = catchUpOf({ preset, schemes: providerOf(preset)?.schemes ?? [] });
      const send = async () => ({ headers: {}, text: "{}", json: {} });
      const session = await adapter?.open(settings({ hook, token: "id:secret" }), send, () => NOW);
      const asked = session?.redeliver?.({ item: "i", id: "../a?b", at: NOW, outcome: "failed", eventId: null });
      assert.match(asked?.url ?? "", /\/\.\.%2Fa%3Fb\//, preset);
    }
  });

  test("with Stripe leaves out the types that the endpoint does not get", async (t) => {
    const { clock, state, sender } = openReceiver(t);
    const origin = "https://api.stripe.com";
    const types = ["invoice.paid", "charge.failed"];
    const { run, emit } = sender({
      name: "stripe",
      adapter: adapterOf("stripe"),
      origin,
      hook: `${origin}/v1/webhook_endpoints/we_1`,
      api: (log) => stripeApi(log, origin, ["invoice.paid"]),
      bodyOf: (id, at) => stripeEvent(id, at, types.shift()),
    });
    state.isUp = false;
    await emit();
    await emit();
    clock.now += 1000;
    assert.equal((await run()).listed, 1);
  });

  test("with PayPal leaves out the types that the webhook does not get", async (t) => {
    const { clock, state, sender } = openReceiver(t);
    const types = ["PAYMENT.CAPTURE.COMPLETED", "BILLING.PLAN.CREATED"];
    const { run, emit } = sender({
      ...SENDERS.paypal,
      api: (log) => paypalApi(log, ["BILLING.PLAN.CREATED"]),
      bodyOf: (id, at) => paypalEvent(id, at, types.shift()),
    });
    state.isUp = false;
    await emit();
    await emit();
    clock.now += 1000;
    assert.equal((await run()).listed, 1);
  });
});

test("a source catches up at its interval, soon after a start, and not before the provider takes requests", () => {
  const state = { ranAt: NOW, notBefore: null };
  const due = (now: number, isAfterStart = false, changes = {}) =>
    isDue({ ...state, ...changes }, { everyMs: 3_600_000, isAfterStart, now });
  assert.equal(isDue(null, { everyMs: 1, isAfterStart: false, now: NOW }), true);
  assert.deepEqual([due(NOW + 3_599_999), due(NOW + 3_600_000)], [false, true]);
  assert.deepEqual([due(NOW + 59_999, true), due(NOW + 60_000, true)], [false, true]);
  assert.equal(due(NOW - 1), true);
  const limited = { notBefore: NOW + 7_200_000 };
  assert.deepEqual([due(NOW + 3_600_000, true, limited), due(NOW + 7_200_000, false, limited)], [false, true]);
});
