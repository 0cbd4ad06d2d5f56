import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "LinkedIn",
  docs: "https://learn.microsoft.com/en-us/linkedin/shared/api-guide/webhook-validation",
  schemes: hmacOfBody("x-li-signature", { signed: "hmacsha256={body}" }),
  // GET with a challenge, when the URL is registered and every two hours: the page above.
  handshake: "linkedin",
});
