import { provider } from "../provider.ts";
import { base64OfBody } from "../signing.ts";

export default provider({
  title: "DocuSign",
  docs: "https://developers.docusign.com/platform/webhooks/connect/validate/",
  // One header for each of the account's keys.
  schemes: base64OfBody({ headers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((number) => `x-docusign-signature-${number}`) }),
  // The envelope's id is the same in each of its events.
  type: ["body:event"],
});
