import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Nylas",
  docs: "https://developer.nylas.com/docs/v3/notifications/",
  schemes: hmacOfBody("x-nylas-signature"),
  id: ["body:id"],
  type: ["body:type"],
  // https://developer.nylas.com/docs/v3/notifications/: the answer to `?challenge=` is exactly its value.
  handshake: "nylas",
  evidence: {
    kind: "published",
    by: "https://github.com/nylas/nylas-java/blob/5e0890b8d73604da31f287f76b0bcc83c9eb5b29/src/test/kotlin/com/nylas/util/WebhookRequestValidatorTest.kt",
  },
});
