import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Ashby",
  docs: "https://developers.ashbyhq.com/docs/authenticating-webhooks",
  schemes: hmacOfBody("ashby-signature", { label: "sha256=" }),
  type: ["body:action"],
  facts: says("https://developers.ashbyhq.com/docs/retries", {
    answer: "any 2xx",
    repeats: "automatic",
    schedule: "9 times, 10 * (2^n - 1) seconds after the one before, for n from 1 to 9",
    repeatsForSeconds: 10_130,
  }),
});
