import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Worldpay",
  docs: "https://docs.worldpay.com/access/products/events/signature",
  // Each item is KEY_ID/SHA256/SIGNATURE.
  schemes: hmacOfBody("event-signature", { format: "pairs", assignment: "/SHA256/", encodings: ["hex", "base64"] }),
  id: ["body:eventId"],
  type: ["body:eventDetails.type"],
  contentTypes: ["application/json", "application/vnd.worldpay.events-v1.hal+json"],
  facts: {
    ...says("https://docs.worldpay.com/access/products/events/openapi/payment/refusedpayment", { sameBytes: false }),
    ...says("https://developer.worldpay.com/products/access/hosted-payment-pages/webhooks/", { answer: "200" }),
  },
});
