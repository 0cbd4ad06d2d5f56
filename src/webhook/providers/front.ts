import { provider } from "../provider.ts";
import { timestamped } from "../signing.ts";

export default provider({
  title: "Front",
  docs: "https://dev.frontapp.com/docs/application-webhooks",
  schemes: timestamped("x-front-signature", { header: "x-front-request-timestamp", unit: "ms" }, "{timestamp}:{body}", {
    encodings: ["base64"],
  }),
  type: ["body:type"],
  // A signed `sync` with a challenge in a header, when the URL is saved: the page above.
  handshake: "front",
});
