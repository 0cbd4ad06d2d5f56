import { provider } from "../provider.ts";
import { says } from "../provider-facts.ts";
import { type OwnPart, queryOf } from "../signed-text.ts";
import { timestampedPairs } from "../signing.ts";

const LOWER_CASE_ID: OwnPart = {
  read: ({ target }) => {
    const id = queryOf(target).get("data.id");
    return id === null ? null : Buffer.from(id.toLowerCase());
  },
  readsAddress: true,
};

export default provider({
  title: "Mercado Pago",
  docs: "https://www.mercadopago.com.br/developers/en/docs/your-integrations/notifications/webhooks",
  // The page asks for the id in lower case, while its libraries take it as sent.
  // It has sent the time in seconds and in milliseconds (mercadopago/sdk-java, WebhookSignatureValidatorTest.java).
  schemes: ["{query:data.id}", "{own:id}"].flatMap((id) =>
    (["ms", "s"] as const).map((unit) =>
      timestampedPairs("x-signature", {
        timestamp: { pair: "ts", unit },
        optional: [`id:${id};`, "request-id:{header:x-request-id};"],
        signed: "ts:{timestamp};",
        parts: { id: LOWER_CASE_ID },
      }),
    ),
  ),
  covers: "part",
  id: ["body:id"],
  type: ["body:type"],
  facts: says(
    "https://github.com/mercadopago/devsite-docs/blob/0a9c89c293acca7476656069bb5bd245537fc62f/guides/snippets/test-integration/notification-response.en.md",
    {
      answer: "200 or 201",
      answerSeconds: 22,
      repeats: "automatic",
      schedule: "5, 45 minutes, 6 hours, 2 and 4 days after the first attempt",
      repeatsForSeconds: 4 * 86_400,
    },
  ),
  evidence: { kind: "sdk", by: "mercadopago@3.6.1" },
});
