import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Mollie",
  docs: "https://docs.mollie.com/reference/webhooks-best-practices",
  // For a day after a rotation there is a signature with each secret.
  schemes: hmacOfBody("x-mollie-signature", { format: "pairs", label: "sha256" }),
  id: ["body:id"],
  type: ["body:type"],
  facts: says(
    "https://github.com/mollie/mollie-api-php/blob/0ab576ed717fa39b422f188fc7d298b80a73d5d9/src/Webhooks/SignatureValidator.php",
    {
      rotation: "a header for each secret",
    },
  ),
  evidence: { kind: "sdk", by: "mollie-api-typescript@1.12.28" },
});
