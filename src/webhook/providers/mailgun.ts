import { provider } from "../provider.ts";
import { base64url, hex, seconds } from "../samples/values.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Mailgun",
  docs: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
  schemes: hmacOfBody(
    { json: "signature.signature" },
    {
      timestamp: { json: "signature.timestamp" },
      // The token is used once.
      isIdentity: true,
      signed: "{timestamp}{json:signature.token}",
      // It repeats a delivery for eight hours.
      toleranceSeconds: 12 * 3600,
    },
  ),
  covers: "part",
  id: ["body:event-data.id"],
  type: ["body:event-data.event"],
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
