import { inHeader, json, PRINTABLE } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";

export default provider({
  title: "Okta",
  docs: "https://developer.okta.com/docs/concepts/event-hooks/",
  schemes: { type: "token", header: "authorization" },
  covers: "none",
  id: ["body:eventId"],
  type: ["body:data.events.0.eventType"],
  handshake: {
    kind: "okta",
    json: { verification: "text" },
    get: inHeader("x-okta-verification-challenge", (verification) => json({ verification }), PRINTABLE),
  },
  needsEmptyAnswers: true,
  facts: says("https://developer.okta.com/docs/concepts/event-hooks/", {
    batches: true,
    answer: "200 or 204 with an empty body",
    answerSeconds: 3,
    repeats: "automatic",
    schedule: "once, but not after a 4xx",
  }),
});
