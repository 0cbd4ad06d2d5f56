import { hub } from "../provider/described-handshakes.ts";
import { base62, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Meta",
  docs: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
  schemes: hmacOfBody("x-hub-signature-256", { label: "sha256=" }),
  type: ["body:entry.0.changes.0.field", "body:object"],
  handshake: {
    kind: "meta",
    hasToken: true,
    ...hub(true),
    query: { "hub.mode": "text", "hub.verify_token": "text", "hub.challenge": "text" },
  },
  facts: {
    ...says("https://github.com/hookdeck/webhook-skills/blob/00ad8d05f1db530909e1b96b16760b5bbc9ebe69/providers.yaml", {
      batches: true,
      repeats: "automatic",
      schedule: "at once, then less and less often, for 36 hours; of WhatsApp for 7 days",
      repeatsForSeconds: 36 * 3600,
    }),
    ...says("https://developers.facebook.com/docs/whatsapp/cloud-api/guides/set-up-webhooks", {
      maxBodyBytes: 3 * 1024 * 1024,
    }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/david-lev/pywa/blob/0bcf2f192ff3cf8ae24a425d85f4295e3cca7a62/tests/test_server.py",
  },
  sample: {
    type: "messages",
    headers: () => ({ "user-agent": "facebookexternalua" }),
    content: {
      json: ({ type, now }) => ({
        object: "whatsapp_business_account",
        entry: [
          {
            id: "104839275016482",
            changes: [
              {
                value: {
                  messaging_product: "whatsapp",
                  metadata: { display_phone_number: "15550100001", phone_number_id: "107294618350927" },
                  contacts: [{ profile: { name: "Test User" }, wa_id: "15550100002" }],
                  messages: [
                    {
                      from: "15550100002",
                      id: `wamid.${Buffer.from(base62(41)).toString("base64")}`,
                      timestamp: String(seconds(now)),
                      text: { body: "Is my order on its way?" },
                      type: "text",
                    },
                  ],
                },
                field: type,
              },
            ],
          },
        ],
      }),
    },
  },
});
