import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Mollie",
  docs: "https://docs.mollie.com/reference/webhooks-best-practices",
  // For a day after a rotation there is a signature with each secret.
  schemes: hmacOfBody("x-mollie-signature", { format: "pairs", label: "sha256" }),
  id: ["body:id"],
  type: ["body:type"],
  evidence: { kind: "sdk", by: "mollie-api-typescript@1.12.28" },
});
