import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import type { ApiRequest } from "../../src/webhook/provider/catch-up.ts";
import { needs } from "../helpers/back-end.ts";
import { stripeApi, stripeEvent, svixApi, TOKEN } from "../helpers/stand-ins/providers.ts";
import { servedApi } from "../helpers/stand-ins/served.ts";
import { createDeliveryLog, type StandInAnswer } from "../helpers/stand-ins/stand-in.ts";
import { isInstalled } from "./delivery.ts";

const AT = Date.UTC(2026, 10, 25);

const needsPackages = () =>
  needs("the providers' own packages", isInstalled, "they are not installed (npm ci --prefix test/providers)");

/** The log of a stand-in that has tried to deliver two events, of which the second has arrived. */
async function logOf(bodyOf: (id: string, at: number) => string = () => "{}") {
  let count = 0;
  const log = createDeliveryLog({ deliver: ({ id }) => id === "two" || ++count > 1, now: () => AT });
  for (const id of ["one", "two"]) await log.emit({ id, at: AT, type: "push", body: bodyOf(id, AT) });
  return log;
}

suite("the provider's own package understands its stand-in:", needsPackages(), () => {
  /** A served stand-in, which is made when its origin is known. */
  async function served(t: TestContext, make: (origin: string) => (request: ApiRequest) => Promise<StandInAnswer>) {
    let api: ReturnType<typeof make> | undefined;
    const origin = await servedApi(t, (request) => (api as ReturnType<typeof make>)(request));
    api = make(origin);
    return origin;
  }

  test("stripe", async (t) => {
    const log = await logOf(stripeEvent);
    const origin = await served(t, (at) => stripeApi(log, at));
    const { port } = new URL(origin);
    const { default: Stripe } = await import("stripe" as string);
    const client = new Stripe(TOKEN, { host: "127.0.0.1", port, protocol: "http" });
    const { data } = await client.events.list({ delivery_success: false, created: { gte: 1 } });
    assert.deepEqual(
      data.map(({ id }: { id: string }) => id),
      ["one"],
    );
    assert.equal((await client.events.retrieve("one")).type, "payment_intent.succeeded");
  });

  test("svix", async (t) => {
    const log = await logOf();
    const origin = await served(t, (at) => svixApi(log, `${at}/api/v1/app/app_1/endpoint/ep_1`));
    const { Svix } = await import("svix" as string);
    const client = new Svix(TOKEN, { serverUrl: origin });
    const { data } = await client.messageAttempt.listByEndpoint("app_1", "ep_1", { after: new Date(AT - 1000) });
    assert.deepEqual(
      data.map(({ msgId, status }: { msgId: string; status: number }) => [msgId, status]),
      [
        ["two", 0],
        ["one", 2],
      ],
    );
    await client.messageAttempt.resend("app_1", "one", "ep_1");
    assert.equal(log.attempts.length, 3);
  });
});
