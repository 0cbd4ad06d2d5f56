import { provider } from "../provider.ts";
import { keySignature } from "../signing.ts";

export default provider({
  title: "Adobe I/O Events",
  docs: "https://developer.adobe.com/events/docs/guides/",
  // Two keys sign at any time; the receiver may have one of them.
  schemes: keySignature("rsa", { headers: ["x-adobe-digital-signature-1", "x-adobe-digital-signature-2"] }),
  id: ["body:event_id"],
  type: ["body:event.@type"],
  handshake: "adobe",
  evidence: {
    kind: "published",
    by: "https://github.com/adobe/aio-lib-events/blob/495332c73aed294f346fd0bc7d1ed7aaea5eac60/test/mock.js",
  },
});
