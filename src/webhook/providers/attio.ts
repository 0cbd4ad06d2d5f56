import { randomUUID } from "node:crypto";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Attio",
  docs: "https://docs.attio.com/rest-api/guides/webhooks",
  // Both headers have the same signature.
  schemes: hmacOfBody({ headers: ["attio-signature", "x-attio-signature"] }),
  id: ["header:idempotency-key"],
  type: ["body:events.0.event_type"],
  dedupe: {
    mode: "id",
    why: "The body of two changes of one attribute can be the same. A repeat keeps its idempotency key.",
    source: "https://docs.attio.com/rest-api/guides/webhooks",
  },
  facts: says("https://docs.attio.com/rest-api/how-to/webhooks", {
    answer: "2xx",
    repeats: "automatic",
    schedule: "up to 10 times with growing delays",
    repeatsForSeconds: 3 * 86_400,
  }),
  sample: {
    type: "record.updated",
    newId: randomUUID,
    headers: ({ id }) => ({ "idempotency-key": id }),
    content: {
      json: ({ type }) => ({
        webhook_id: "23e42eaf-323a-41da-b5bb-fd67eebda553",
        events: [
          {
            event_type: type,
            id: {
              workspace_id: "14beef7a-99f7-4534-a87e-70b564330a4c",
              object_id: "97052eb9-e65e-443f-a297-f2d9a4a7f795",
              record_id: randomUUID(),
              attribute_id: "41252299-f8c7-4b5e-99c9-4ff8321d2f96",
            },
            actor: { type: "workspace-member", id: "50cf242c-7fa3-4cad-87d0-75b1af71c57b" },
          },
        ],
      }),
    },
  },
});
