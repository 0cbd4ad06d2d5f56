import { MULTIPART } from "../content/content.ts";
import { base64url, hex, seconds } from "../provider/sample.ts";
import { JSON_OR_FORM, provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Mailgun",
  docs: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
  // A route that forwards mail sends a form with the signature among its fields:
  // https://documentation.mailgun.com/docs/mailgun/user-manual/receive-forward-store/receive-http
  schemes: ["signature.", ""].map((parent) =>
    hmacOfBody(
      { json: `${parent}signature` },
      {
        timestamp: { json: `${parent}timestamp` },
        // The token is used once.
        isIdentity: true,
        signed: `{timestamp}{json:${parent}token}`,
        // It repeats a delivery for 7.5 hours.
        toleranceSeconds: 12 * 3600,
      },
    ),
  ),
  covers: "part",
  // With attachments, a form has several parts.
  contentTypes: [...JSON_OR_FORM, MULTIPART],
  id: ["body:event-data.id"],
  type: ["body:event-data.event"],
  facts: says("https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhook-retries", {
    answer: "200; 406 refuses it for good",
    repeats: "automatic",
    schedule: "after 5, 10 and 15 minutes, 1, 2 and 4 hours; delivered never",
    repeatsForSeconds: 27_000,
    repeatsByType: { delivered: 0 },
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/mailgun/mailgun-php/blob/5024827b4ba170d9547919c7cbcb56477659bdd0/tests/Api/WebhookTest.php",
  },
  sample: {
    type: "delivered",
    newId: () => base64url(16),
    headers: () => ({ "user-agent": "mailgun/treq-24.9.1" }),
    content: {
      json: ({ id, type, now }) => ({
        // The signature covers only these two: whoever signs fills in the third.
        signature: { timestamp: String(seconds(now)), token: hex(50), signature: "" },
        "event-data": {
          event: type,
          id,
          timestamp: (now - 900) / 1000,
          flags: { "is-authenticated": true, "is-routed": false, "is-system-test": false, "is-test-mode": false },
          message: {
            attachments: [],
            headers: {
              "message-id": `${hex(32)}@mg.example.com`,
              from: "Acme <billing@mg.example.com>",
              to: "customer@example.com",
              subject: "Your receipt",
            },
            size: 1204,
          },
          "log-level": "info",
          recipient: "customer@example.com",
          "recipient-domain": "example.com",
          "recipient-provider": "Other",
          "primary-dkim": "pdk1._domainkey.mg.example.com",
          tags: ["receipt"],
          campaigns: [],
          "delivery-status": {
            "attempt-no": 1,
            code: 250,
            message: "OK",
            description: null,
            "session-seconds": 0.742,
            "mx-host": "mx.example.com",
            "certificate-verified": true,
            tls: true,
            utf8: true,
          },
          domain: { name: "mg.example.com" },
          envelope: {
            sender: "billing@mg.example.com",
            targets: "customer@example.com",
            transport: "smtp",
            "sending-ip": "192.0.2.25",
          },
          "user-variables": {},
        },
      }),
    },
  },
});
