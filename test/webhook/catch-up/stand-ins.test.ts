import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Ajv } from "ajv";
import descriptions from "../../fixtures/provider-apis.json" with { type: "json" };
import { githubApi, paypalApi, paypalEvent, TOKEN } from "../../helpers/stand-ins/providers.ts";
import { createDeliveryLog } from "../../helpers/stand-ins/stand-in.ts";

const AT = Date.UTC(2026, 10, 25);
const HOOK = "https://api.github.com/repos/o/r/hooks/1";
const PAYPAL = "https://api-m.paypal.com";

/** The log of a stand-in that has tried to deliver two events, of which the second has arrived. */
async function logOf(bodyOf: (id: string, at: number) => string = () => "{}") {
  const log = createDeliveryLog({ deliver: ({ id }) => id === "two", now: () => AT });
  for (const id of ["one", "two"]) await log.emit({ id, at: AT, type: "push", body: bodyOf(id, AT) });
  return log;
}

/** What the provider's published description of the answer says of another one; empty if it is right. */
function differences(provider: string, text: string): unknown[] {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.validate(descriptions.find((one) => one.provider === provider)?.schema ?? false, JSON.parse(text));
  return ajv.errors ?? [];
}

suite("the stand-in for the API of a provider answers as its published description says:", () => {
  test("github", async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const { status, text } = await githubApi(await logOf(), HOOK)({ url: `${HOOK}/deliveries`, headers });
    assert.deepEqual([status, JSON.parse(text).length], [200, 2]);
    assert.deepEqual(differences("github", text), []);
    assert.notDeepEqual(differences("github", '[{"id":"1"}]'), []);
  });

  test("paypal", async () => {
    const url = `${PAYPAL}/v1/notifications/webhooks-events?start_time=2026-01-01T00:00:00Z&end_time=2027-01-01T00:00:00Z`;
    const headers = { authorization: "Bearer an-access-token" };
    const { status, text } = await paypalApi(await logOf(paypalEvent))({ url, headers });
    assert.deepEqual([status, JSON.parse(text).events.length], [200, 2]);
    assert.deepEqual(differences("paypal", text), []);
    assert.notDeepEqual(differences("paypal", '{"events":{}}'), []);
  });
});
