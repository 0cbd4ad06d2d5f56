import { randomUUID } from "node:crypto";
import { hmacOf, inMember, json } from "../provider/handshake.ts";
import { hex, integer, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

export default provider({
  title: "Zoom",
  docs: "https://developers.zoom.us/docs/api/webhooks/",
  schemes: timestamped("x-zm-signature", { header: "x-zm-request-timestamp" }, "v0:{timestamp}:{body}", {
    label: "v0=",
  }),
  id: ["header:x-zm-request-id"],
  type: ["body:event"],
  handshake: {
    kind: "zoom",
    json: { plainToken: "text", encryptedToken: "text" },
    delivery(content, { secret }) {
      if (content.member("event") !== "endpoint.url_validation") return null;
      return inMember(content, "payload.plainToken", (plainToken) =>
        json({ plainToken, encryptedToken: hmacOf(plainToken, secret) }),
      );
    },
    signs: { forAnybody: false },
  },
  facts: says("https://developers.zoom.us/blog/webhook-delays", {
    answer: "200 or 204",
    answerSeconds: 3,
    repeats: "automatic",
    schedule: "after 5, 20 and 60 minutes",
    repeatsForSeconds: 85 * 60,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/Jericho/ZoomNet/blob/a8a2562ac7e26146c9064098645ec3689bce3ebf/Source/ZoomNet.UnitTests/WebhookSignatureValidationTests.cs",
  },
  sample: {
    type: "meeting.started",
    newId: randomUUID,
    headers: ({ id }) => ({
      "user-agent": "Zoom Marketplace/1.0a",
      clientid: "kR8vXw2TQmGz5NcLbY7HdA",
      "x-zm-request-id": id,
      "x-zm-trackingid": `WEB_${hex(32)}`,
    }),
    content: {
      json: ({ type, now }) => ({
        event: type,
        payload: {
          account_id: "pT4mZc9XQwKd2RyVb7NgJL",
          object: {
            duration: 30,
            start_time: `${isoSeconds(now)}Z`,
            timezone: "Europe/Berlin",
            topic: "Weekly review",
            id: String(integer(11)),
            type: 2,
            uuid: Buffer.from(hex(32), "hex").toString("base64"),
            host_id: "hN6rBt3YSkWf8PzLd1VxMQ",
          },
        },
        event_ts: now,
      }),
    },
  },
});
