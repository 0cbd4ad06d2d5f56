import { provider } from "../provider.ts";
import { timestampedPairs } from "../signing.ts";

export default provider({
  title: "Mercado Pago",
  docs: "https://www.mercadopago.com.br/developers/en/docs/your-integrations/notifications/webhooks",
  // The page asks for the id in lower case, while its libraries take it as sent.
  // It has sent the time in seconds and in milliseconds (mercadopago/sdk-java, WebhookSignatureValidatorTest.java).
  schemes: ["{query:data.id}", "{query-lower:data.id}"].flatMap((id) =>
    (["ms", "s"] as const).map((unit) =>
      timestampedPairs("x-signature", {
        timestamp: { pair: "ts", unit },
        optional: [`id:${id};`, "request-id:{header:x-request-id};"],
        signed: "ts:{timestamp};",
      }),
    ),
  ),
  covers: "part",
  id: ["body:id"],
  type: ["body:type"],
  evidence: { kind: "sdk", by: "mercadopago@3.6.1" },
});
