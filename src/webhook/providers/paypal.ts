import { crc32 } from "node:zlib";
import { DAY_MS } from "../../lib/durations.ts";
import { type CatchUpAdapter, type ListedAttempt, listOf, memberOf, textAt, timeOf } from "../provider/catch-up.ts";
import { provider, says } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

const MAX_PER_PAGE = 50;

/**
 * PayPal lists the events of an app, for all its webhooks and without whether they were delivered. Those types are left
 * out that the webhook does not get. It repeats one to a webhook when asked, but not while it repeats it by itself.
 */
const catchUp: CatchUpAdapter = {
  hosts: ["api-m.paypal.com", "api-m.sandbox.paypal.com"],
  hook: {
    pattern: /^\/v1\/notifications\/webhooks\/\w+$/,
    example: "https://api-m.paypal.com/v1/notifications/webhooks/WEBHOOK_ID",
  },
  token: "the client id of the app, a colon, and its secret",
  fault: ({ token }) =>
    /^[^:]+:./.test(token) ? null : { key: "token", text: "found no colon, expected CLIENT_ID:SECRET" },
  // The dashboard's range, which is the only one that PayPal tells.
  keepsMs: 30 * DAY_MS,
  docs: "https://developer.paypal.com/docs/api/webhooks/v1/#webhooks-events",
  async open({ origin, hook, token }, send) {
    const basic = Buffer.from(token).toString("base64");
    const form = { authorization: `Basic ${basic}`, "content-type": "application/x-www-form-urlencoded" };
    const granted = await send({
      url: `${origin}/v1/oauth2/token`,
      headers: form,
      body: "grant_type=client_credentials",
    });
    const headers = { authorization: `Bearer ${textAt(granted.json, "access_token")}` };
    const webhookId = hook?.split("/").at(-1);
    const subscribed = await send({ url: `${hook}/event-types`, headers });
    const types = listOf(memberOf(subscribed.json, "event_types") ?? []).map((type) => textAt(type, "name"));
    const isWanted = (type: string | null) => types.includes("*") || types.includes(type);
    const events = `${origin}/v1/notifications/webhooks-events`;
    // Its links name other hosts (https://github.com/paypal/paypal-checkout-components/issues/1391), also of its own
    // network (https://github.com/paypal/PayPal-node-SDK/issues/68).
    const pageUrl = (href: string) => `${events}${new URL(href, events).search}`;
    return {
      firstPage(from, to) {
        const time = (at: number) => encodeURIComponent(new Date(at).toISOString());
        return { url: `${events}?page_size=${MAX_PER_PAGE}&start_time=${time(from)}&end_time=${time(to)}`, headers };
      },
      readPage({ json }) {
        const links = memberOf(json, "links");
        const next = (Array.isArray(links) ? links : []).find((link) => textAt(link, "rel") === "next");
        const href = textAt(next, "href");
        const wanted = listOf(memberOf(json, "events") ?? []).filter((event) => isWanted(textAt(event, "event_type")));
        return { listed: wanted.map(listedOf), next: href === null ? null : { url: pageUrl(href), headers } };
      },
      redeliver: ({ id }) => ({
        url: `${events}/${encodeURIComponent(id)}/resend`,
        headers,
        body: JSON.stringify({ webhook_ids: [webhookId] }),
      }),
    };
  },
};

function listedOf(event: unknown): ListedAttempt {
  const id = textAt(event, "id") ?? "";
  return { item: id, id, at: timeOf(textAt(event, "create_time")), outcome: "unknown", eventId: id };
}

export default provider({
  title: "PayPal",
  docs: "https://developer.paypal.com/api/rest/webhooks/rest/",
  schemes: keySignature("rsa", "paypal-transmission-sig", {
    timestamp: { header: "paypal-transmission-time", unit: "iso" },
    signed: "{header:paypal-transmission-id}|{timestamp}|{option:webhookId}|{own:checksum}",
    // The CRC-32 does not cover the body: anybody can make another body with the same one.
    parts: { checksum: { read: ({ content }) => Buffer.from(String(crc32(content.bytes))) } },
    // It repeats a delivery for three days.
    toleranceSeconds: 4 * 86_400,
  }),
  options: { webhookId: { is: "the id of the webhook in PayPal" } },
  covers: "part",
  id: ["body:id"],
  type: ["body:event_type"],
  catchUp,
  facts: says("https://developer.paypal.com/api/rest/webhooks/", {
    answer: "any 2xx",
    repeats: "automatic",
    schedule: "25 times over 3 days",
    repeatsForSeconds: 3 * 86_400,
  }),
});
