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
    schedule: "up to 9 times, after 10, 30 and 70 seconds, then after twice as long each time",
    repeatsForSeconds: 10_130,
  }),
});
