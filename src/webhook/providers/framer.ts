import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Framer",
  docs: "https://www.framer.com/help/articles/framer-form-webhook-setup",
  schemes: hmacOfBody("framer-signature", { label: "sha256=", signed: "{body}{header:framer-webhook-submission-id}" }),
  id: ["header:framer-webhook-submission-id"],
});
