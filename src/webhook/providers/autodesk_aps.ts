import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Autodesk Platform Services",
  docs: "https://aps.autodesk.com/en/docs/webhooks/v1/tutorials/how-to-verify-payload-signature/",
  schemes: hmacOfBody("x-adsk-signature", { label: "sha1hash=", algorithm: "sha1" }),
  id: ["header:x-adsk-delivery-id"],
  type: ["body:hook.event"],
  facts: says("https://aps.autodesk.com/en/docs/webhooks/v1/overview/basics", {
    answer: "any 2xx",
    answerSeconds: 6,
    repeats: "automatic",
    schedule: "four times",
    repeatsForSeconds: 48 * 3600,
    disables: "when the last attempt of a delivery failed",
  }),
});
