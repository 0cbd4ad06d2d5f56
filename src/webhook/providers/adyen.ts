import { base62, integer, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import type { OwnPart } from "../signature/signed-text.ts";
import { base64OfBody } from "../signature/signing.ts";

/** What Adyen signs of each notification, joined by colons. */
const ADYEN_FIELDS = [
  "pspReference",
  "originalReference",
  "merchantAccountCode",
  "merchantReference",
  "amount.value",
  "amount.currency",
  "eventCode",
  "success",
];

/** How a value is written in the signed text; null if it cannot be. */
type Writing = (text: string) => string | null;

// Parts of a value with a colon could be moved to its neighbour.
const plain: Writing = (text) => (text.includes(":") ? null : text);
// This one may have colons, because all others have none. Senders are known that escape them, and that do not.
const REFERENCE = "merchantReference";
const asIs: Writing = (text) => text;
const escaped: Writing = (text) => text.replace(/[\\:]/g, "\\$&");

/** A member of the notification, which is empty if it is missing or no single value. */
function field(name: string, write: Writing): OwnPart {
  const path = `NotificationRequestItem.${name}`;
  return {
    read: ({ content }) => {
      const value = content.member(path);
      const text = write(typeof value === "object" || value === undefined ? "" : String(value));
      return text === null ? null : Buffer.from(text);
    },
    covers: { members: [path] },
  };
}

export default provider({
  title: "Adyen",
  docs: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
  schemes: [
    ...[asIs, escaped].map((reference) =>
      base64OfBody(
        { each: "notificationItems", json: "NotificationRequestItem.additionalData.hmacSignature" },
        {
          key: "hex",
          signed: ADYEN_FIELDS.map((name) => `{own:${name}}`).join(":"),
          parts: Object.fromEntries(
            ADYEN_FIELDS.map((name) => [name, field(name, name === REFERENCE ? reference : plain)]),
          ),
        },
      ),
    ),
    base64OfBody("hmacsignature", { key: "hex" }),
  ],
  covers: "part",
  type: ["body:notificationItems.0.NotificationRequestItem.eventCode", "body:type"],
  acknowledgement: { type: "text/plain", text: "[accepted]" },
  facts: {
    ...says("https://docs.adyen.com/development-resources/webhooks/troubleshoot", {
      repeats: "automatic",
      schedule: "three times at once, then after 2, 5, 10, 15 and 30 minutes, and 1, 2, 4 and 8 hours, for 30 days",
      repeatsForSeconds: 30 * 86_400,
    }),
    ...says("https://docs.adyen.com/japan-sellers-screening/webhooks", { answer: "any 2xx", answerSeconds: 10 }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/Adyen/adyen-node-api-library/blob/3b84a188ef071064636a19f53f95f8aa7112dd91/src/__tests__/hmacValidator.spec.ts",
  },
  sample: {
    type: "AUTHORISATION",
    content: {
      json: ({ type, now }) => ({
        live: "false",
        notificationItems: [
          {
            NotificationRequestItem: {
              additionalData: { hmacSignature: "" },
              amount: { value: 4200, currency: "EUR" },
              eventCode: type,
              eventDate: `${isoSeconds(now)}+00:00`,
              merchantAccountCode: "ExampleShop",
              merchantReference: `order-${integer(6)}`,
              paymentMethod: "visa",
              pspReference: base62(16).toUpperCase(),
              success: "true",
            },
          },
        ],
      }),
    },
  },
});
