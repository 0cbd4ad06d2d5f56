import { crc32 } from "node:zlib";
import { paypal as catchUp } from "../catch-up/paypal.ts";
import { provider, says } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

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
