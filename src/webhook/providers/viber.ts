import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Viber",
  docs: "https://developers.viber.com/docs/api/rest-bot-api/",
  schemes: hmacOfBody("x-viber-content-signature"),
  // The token of a message is also in the events that tell of its delivery and that it was seen.
  type: ["body:event"],
  evidence: {
    kind: "published",
    by: "https://github.com/Viber/viber-bot-node/blob/e202b1b6d73f929269caf82c392173937e2d4412/test/message/message-validator-test.js",
  },
});
