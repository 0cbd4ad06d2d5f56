import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Asana",
  docs: "https://developers.asana.com/docs/webhooks-guide",
  schemes: hmacOfBody("x-hook-signature"),
  // A POST with a new secret in X-Hook-Secret, which wants that header back. Asana's answer to the request that made the webhook
  // has the secret, too: https://developers.asana.com/reference/createwebhook
  handshake: "asana",
});
