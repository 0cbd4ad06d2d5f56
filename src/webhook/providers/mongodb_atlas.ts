import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "MongoDB Atlas",
  docs: "https://www.mongodb.com/docs/atlas/tutorial/webhook-integration/",
  schemes: base64OfBody("x-mms-signature", {
    algorithm: "sha1",
    // Ops Manager documents hex.
    encodings: ["base64", "hex"],
  }),
  // The id in its body is that of the alert, which sends several events.
  type: ["body:eventTypeName", "header:x-mms-event"],
  dedupe: {
    mode: "off",
    why: "A template of the operator's can give different alerts the same body, and no id is sent.",
    source: "https://www.mongodb.com/pt-br/docs/atlas/tutorial/webhook-integration",
  },
  facts: says("https://www.mongodb.com/pt-br/docs/atlas/tutorial/webhook-integration", { sameBytes: true }),
});
