import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Onfleet",
  docs: "https://docs.onfleet.com/reference/secrets",
  schemes: hmacOfBody("x-onfleet-signature", { algorithm: "sha512", key: "hex" }),
});
