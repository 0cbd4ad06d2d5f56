import { randomUUID } from "node:crypto";
import { consent } from "../provider/described-handshakes.ts";
import { integer, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { BEARER_TOKEN } from "../signature/signing.ts";

export default provider({
  title: "CloudEvents",
  docs: "https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md",
  schemes: BEARER_TOKEN,
  covers: "none",
  // An id is unique within the source of its event.
  id: [
    ["header:ce-source", "header:ce-id"],
    ["body:source", "body:id"],
  ],
  type: ["header:ce-type", "body:type", "body:0.type"],
  contentTypes: ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json"],
  dedupe: {
    mode: "id",
    why: "Events whose attributes are in headers may have equal bytes. Those with the same source and id are one.",
    source: "https://github.com/cloudevents/spec/blob/c2845a49bc9831be02f305a4a792401b932d77d4/cloudevents/spec.md",
  },
  handshake: { kind: "cloudevents", options: consent },
  facts: says("https://github.com/cloudevents/spec/blob/c2845a49bc9831be02f305a4a792401b932d77d4/cloudevents/spec.md", {
    sameBytes: true,
    batches: true,
  }),
  sample: {
    type: "com.example.order.paid",
    newId: randomUUID,
    headers: ({ id, type, now }) => ({
      "ce-specversion": "1.0",
      "ce-id": id,
      "ce-source": "/shop/orders",
      "ce-type": type,
      "ce-time": iso(now),
    }),
    content: {
      json: ({ now }) => ({
        order: integer(6),
        customer: { id: integer(8), email: "customer@example.com" },
        lines: [
          { sku: "MUG-BLUE", title: "Coffee mug", quantity: 2, price: "20.00" },
          { sku: "SHIPPING", title: "Standard delivery", quantity: 1, price: "5.00" },
        ],
        currency: "EUR",
        total: "45.00",
        status: "paid",
        paid_at: iso(now - 1000),
      }),
    },
  },
});
