import { echoQuery } from "../provider/described-handshakes.ts";
import { provider, says } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

export default provider({
  title: "Adobe I/O Events",
  docs: "https://developer.adobe.com/events/docs/guides/",
  // Two keys sign at any time; the receiver may have one of them.
  schemes: keySignature("rsa", { headers: ["x-adobe-digital-signature-1", "x-adobe-digital-signature-2"] }),
  // The second one is the older name.
  id: ["body:eventid", "body:event_id"],
  type: ["body:event.@type"],
  handshake: { kind: "adobe", ...echoQuery("challenge") },
  facts: {
    ...says("https://developer.adobe.com/events/docs/guides/", {
      answer: "any 2xx; only 429 and 5xx are repeated",
      answerSeconds: 10,
      repeats: "automatic",
      schedule: "after 1, 2, 4 and 8 minutes, then every 15 minutes",
      repeatsForSeconds: 86_400,
      disables: "if for two days 80 % of at least 10 attempts a day failed",
      keepsDays: 7,
    }),
    ...says("https://developer.adobe.com/events/docs/support/faq/", { batches: true, maxBodyBytes: 2 * 1024 * 1024 }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/adobe/aio-lib-events/blob/495332c73aed294f346fd0bc7d1ed7aaea5eac60/test/mock.js",
  },
});
