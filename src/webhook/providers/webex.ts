import { base64url, iso } from "../provider/sample.ts";
import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Webex",
  docs: "https://developer.webex.com/docs/receive-and-verify-webhooks",
  schemes: hmacOfBody("x-spark-signature", { algorithm: "sha1" }),
  // `id` is that of the webhook.
  type: ["body:resource"],
  dedupe: {
    mode: "off",
    why: "An event has no id or time of its own: an object that is changed twice can give the same bytes.",
    source: "https://developer.webex.com/docs/receive-and-verify-webhooks",
  },
  evidence: {
    kind: "published",
    by: "https://github.com/valgaze/speedybot-mini/blob/52db23a483a710fa005c2c714dbd63b16623bf01/docs/webhooks.md",
  },
  sample: {
    type: "messages",
    content: {
      json: ({ type, now }) => {
        const created = iso(now);
        const personId = base64url(59);
        return {
          id: base64url(59),
          name: "Messages",
          targetUrl: "https://hooks.example.com/webhook/webex",
          resource: type,
          event: "created",
          orgId: base64url(59),
          createdBy: personId,
          appId: base64url(59),
          ownedBy: "creator",
          status: "active",
          created: iso(now - 3_600_000),
          actorId: personId,
          data: {
            id: base64url(59),
            roomId: base64url(59),
            roomType: "group",
            personId,
            personEmail: "user@example.com",
            created,
          },
        };
      },
    },
  },
});
