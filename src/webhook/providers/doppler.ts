import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Doppler",
  docs: "https://docs.doppler.com/docs/webhooks",
  schemes: hmacOfBody("x-doppler-signature", { label: "sha256=" }),
});
