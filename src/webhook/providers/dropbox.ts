import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Dropbox",
  docs: "https://www.dropbox.com/developers/reference/webhooks",
  schemes: hmacOfBody("x-dropbox-signature"),
  handshake: "dropbox",
});
