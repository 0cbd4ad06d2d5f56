import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Asana",
  docs: "https://developers.asana.com/docs/webhooks-guide",
  schemes: hmacOfBody("x-hook-signature"),
});
