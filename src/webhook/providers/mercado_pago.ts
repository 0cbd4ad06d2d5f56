import { queryOf } from "../../lib/request-target.ts";
import { provider, says } from "../provider.ts";
import { headerText, type OwnPart } from "../signature/signed-text.ts";
import { timestampedPairs } from "../signature/signing.ts";

/** A named value, or nothing without one. What follows the sign that ends it could be another value. */
const named = (name: string, value: string | null | undefined) =>
  Buffer.from(value == null || value.includes(";") ? "" : `${name}:${value};`);

const ID: OwnPart = { read: ({ target }) => named("id", queryOf(target).get("data.id")), readsAddress: true };

const LOWER_CASE_ID: OwnPart = {
  read: ({ target }) => named("id", queryOf(target).get("data.id")?.toLowerCase()),
  readsAddress: true,
};

const REQUEST_ID: OwnPart = {
  read: ({ headers }) => named("request-id", headerText(headers, "x-request-id")),
  covers: { headers: ["x-request-id"] },
};

export default provider({
  title: "Mercado Pago",
  docs: "https://www.mercadopago.com.br/developers/en/docs/your-integrations/notifications/webhooks",
  // The page asks for the id in lower case, while its libraries take it as sent.
  // It has sent the time in seconds and in milliseconds (mercadopago/sdk-java, WebhookSignatureValidatorTest.java). Its
  // libraries compare the clock with seconds (mercadopago@3.6.1).
  schemes: [ID, LOWER_CASE_ID].flatMap((id) =>
    (["s", "ms"] as const).map((unit) =>
      timestampedPairs("x-signature", {
        timestamp: { pair: "ts", unit },
        signed: "{own:id}{own:requestId}ts:{timestamp};",
        parts: { id, requestId: REQUEST_ID },
      }),
    ),
  ),
  query: { "data.id": "data.id", type: "type" },
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
