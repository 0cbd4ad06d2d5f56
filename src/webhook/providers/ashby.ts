import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Ashby",
  docs: "https://developers.ashbyhq.com/docs/authenticating-webhooks",
  schemes: hmacOfBody("ashby-signature", { label: "sha256=" }),
  type: ["body:action"],
});
