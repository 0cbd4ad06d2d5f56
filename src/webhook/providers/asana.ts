import { inHeader, withHeaders } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

const SECRET = "x-hook-secret";

export default provider({
  title: "Asana",
  docs: "https://developers.asana.com/docs/webhooks-guide",
  schemes: hmacOfBody("x-hook-signature"),
  type: ["body:events.0.action"],
  // A POST with a new secret in X-Hook-Secret, which wants that header back. Asana's answer to the request that made
  // the webhook has the secret, too: https://developers.asana.com/reference/createwebhook
  handshake: {
    kind: "asana",
    validation: {
      asks: ({ headers }) => headers[SECRET] !== undefined,
      answer: inHeader(SECRET, (secret) => withHeaders({ "X-Hook-Secret": secret })),
      secret: ({ headers }) => String(headers[SECRET]),
    },
  },
  facts: says(
    "https://github.com/Asana/developer-docs/blob/39208263c62b69026149378e7dc5f5dedb8e9fed/source/includes/markdown/_webhooks.html.md",
    {
      batches: true,
      answer: "200 or 204",
      answerSeconds: 10,
      repeats: "automatic",
      schedule: "with growing delays",
      repeatsForSeconds: 86_400,
      disables: "deletes the webhook after 24 hours without a delivery that arrived",
    },
  ),
});
