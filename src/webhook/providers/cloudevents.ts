import { randomUUID } from "node:crypto";
import { provider } from "../provider.ts";
import { says } from "../provider-facts.ts";
import { iso } from "../samples/values.ts";

export default provider({
  title: "CloudEvents",
  docs: "https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md",
  schemes: { type: "token", header: "authorization", label: "Bearer " },
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
  handshake: "cloudevents",
  facts: says("https://github.com/cloudevents/spec/blob/c2845a49bc9831be02f305a4a792401b932d77d4/cloudevents/spec.md", {
    sameBytes: true,
    batches: true,
  }),
  sample: {
    type: "sample.created",
    newId: randomUUID,
    content: {
      json: ({ id, type, now }) => ({
        specversion: "1.0",
        id,
        source: "/samples",
        type,
        time: iso(now),
        data: { object: "sample" },
      }),
    },
  },
});
