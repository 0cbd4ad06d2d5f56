import { randomUUID } from "node:crypto";
import { iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

// One header for each of the account's keys.
const HEADERS = Array.from({ length: 32 }, (_, index) => `x-docusign-signature-${index + 1}`);

export default provider({
  title: "DocuSign",
  docs: "https://developers.docusign.com/platform/webhooks/connect/validate/",
  schemes: base64OfBody({ headers: HEADERS }),
  // The envelope's id is the same in each of its events, and the body counts the repeats.
  id: [
    ["body:event", "body:configurationId", "body:generatedDateTime", "body:data.recipientId", "body:data.envelopeId"],
    ["body:event", "body:configurationId", "body:generatedDateTime", "body:data.envelopeId"],
  ],
  type: ["body:event"],
  contentTypes: ["application/json", "text/xml", "application/xml"],
  facts: {
    ...says("https://developers.docusign.com/platform/webhooks/connect/json-sim-event-model/", {
      repeatChanges: ["body"],
    }),
    ...says(
      "https://www.rubydoc.info/gems/docusign_esign/2.1.0/DocuSign_eSign%2FConnectCustomConfiguration:requires_acknowledgement",
      { repeats: "automatic" },
    ),
  },
  sample: {
    type: "envelope-completed",
    newId: randomUUID,
    content: {
      json: ({ id, type, now }) => {
        const accountId = "3f5b8c1e-7d24-4a96-b0e3-91c6d8f2a745";
        return {
          event: type,
          apiVersion: "v2.1",
          uri: `/restapi/v2.1/accounts/${accountId}/envelopes/${id}`,
          retryCount: 0,
          configurationId: 10_482_957,
          generatedDateTime: iso(now),
          data: { accountId, userId: "b7d1e0a4-52c8-4f39-8e6b-2a9470c3f15d", envelopeId: id },
        };
      },
    },
  },
});
