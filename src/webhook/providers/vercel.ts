import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Vercel",
  docs: "https://vercel.com/docs/webhooks/webhooks-api",
  schemes: hmacOfBody("x-vercel-signature", { algorithm: "sha1" }),
  id: ["body:id"],
  type: ["body:type"],
});
