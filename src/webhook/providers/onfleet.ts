import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Onfleet",
  docs: "https://docs.onfleet.com/reference/secrets",
  schemes: hmacOfBody("x-onfleet-signature", { algorithm: "sha512", key: "hex" }),
  // https://docs.onfleet.com/reference-link/validation: the answer to `?check=` is its value, with 200.
  handshake: "onfleet",
});
