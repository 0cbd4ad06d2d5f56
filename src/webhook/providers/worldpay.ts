import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Worldpay",
  docs: "https://docs.worldpay.com/access/products/events/signature",
  // Each item is KEY_ID/SHA256/SIGNATURE.
  schemes: hmacOfBody("event-signature", { format: "pairs", assignment: "/SHA256/", encodings: ["hex", "base64"] }),
  id: ["body:eventId"],
  type: ["body:eventDetails.type"],
});
