import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Segment",
  docs: "https://segment.com/docs/connections/destinations/catalog/actions-webhook/",
  schemes: hmacOfBody("x-signature", { algorithm: "sha1" }),
  evidence: { kind: "sdk", by: "@segment/action-destinations@3.497.0" },
});
