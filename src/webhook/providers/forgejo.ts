import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Forgejo",
  docs: "https://forgejo.org/docs/latest/user/webhooks/",
  schemes: hmacOfBody("x-forgejo-signature"),
  id: ["header:x-forgejo-delivery"],
  type: ["header:x-forgejo-event"],
});
