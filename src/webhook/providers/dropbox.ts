import { echoQuery } from "../provider/described-handshakes.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Dropbox",
  docs: "https://www.dropbox.com/developers/reference/webhooks",
  schemes: hmacOfBody("x-dropbox-signature"),
  dedupe: {
    mode: "off",
    why: "Each notification of an account has the same bytes, and no id.",
    source: "https://www.dropbox.com/developers/reference/webhooks",
  },
  handshake: { kind: "dropbox", ...echoQuery("challenge") },
  facts: says("https://www.dropbox.com/developers/webhooks/docs", {
    sameBytes: true,
    batches: true,
    answer: "200",
    repeats: "automatic",
    schedule: "with growing delays",
    repeatsForSeconds: 600,
  }),
});
