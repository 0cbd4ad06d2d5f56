import { integer } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody, timestamped } from "../signature/signing.ts";

export default provider({
  title: "HubSpot",
  docs: "https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests",
  schemes: [
    timestamped(
      "x-hubspot-signature-v3",
      { header: "x-hubspot-request-timestamp", unit: "ms" },
      "{method}{url}{body}{timestamp}",
      { encodings: ["base64"], addressForms: ["decoded"] },
    ),
    hmacOfBody("x-hubspot-signature", { isPrefixHash: true }),
    hmacOfBody("x-hubspot-signature", { isPrefixHash: true, signed: "{method}{url}{body}" }),
  ],
  // A batch has the ids of its events, and none of its own.
  type: ["body:0.subscriptionType"],
  facts: {
    ...says(
      "https://github.com/api-evangelist/hubspot/blob/47be8435742807ec21829c890e058c617ee9e255/asyncapi/hubspot-webhooks-asyncapi.yml",
      { repeatChanges: ["body"] },
    ),
    ...says("https://hookdeck.com/webhooks/platforms/guide-to-hubspot-webhooks-features-and-best-practices", {
      answerSeconds: 5,
      repeats: "automatic",
      schedule: "10 times",
    }),
    ...says(
      "https://github.com/hookdeck/webhook-skills/blob/baaf124e4fab14795e6ab65f2dd18782af072329/skills/hubspot-webhooks/references/overview.md",
      { batches: true },
    ),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/HubSpot/hubspot-api-python/blob/a2a528a97f4c1131d7f65d0303bfbd2e523a8eba/tests/spec/utils/test_signature.py",
  },
  sample: {
    type: "contact.creation",
    headers: () => ({
      accept: "*/*",
      "user-agent":
        "HubSpot Connect 2.0 (http://dev.hubspot.com/) (namespace: webhooks-nio-http-client) - WebhooksExecutorDaemon-executor",
      "x-hubspot-timeout-millis": "10000",
    }),
    content: {
      json: ({ type, now }) => [
        {
          appId: 4_170_528,
          eventId: integer(10),
          subscriptionId: 2_903_417,
          portalId: 48_120_673,
          occurredAt: now - 800,
          subscriptionType: type,
          attemptNumber: 0,
          objectId: integer(12),
          changeFlag: "CREATED",
          changeSource: "CRM_UI",
          sourceId: "userId:73104862",
        },
      ],
    },
  },
});
