import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Doppler",
  docs: "https://docs.doppler.com/docs/webhooks",
  schemes: hmacOfBody("x-doppler-signature", { label: "sha256=" }),
  dedupe: {
    mode: "off",
    why: "Each change of the secrets of a config can have the same bytes, and has no id.",
    source: "https://docs.doppler.com/docs/webhooks",
  },
  facts: says("https://docs.doppler.com/docs/webhooks", { sameBytes: true }),
});
