import { hasOnly, inMember, json } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";

export default provider({
  title: "monday.com",
  docs: "https://developer.monday.com/api-reference/reference/webhooks",
  schemes: [
    { type: "jwt", header: "authorization", algorithms: ["HS256"], audience: "url", needsExpiry: true },
    // A webhook that a personal token or the integration of a board made has no token of monday's. It can have one of
    // the operator's in its URL: `?token=SECRET`.
    { type: "token", query: "token" },
  ],
  covers: "none",
  id: ["body:event.triggerUuid"],
  type: ["body:event.type"],
  handshake: {
    kind: "monday",
    json: { challenge: "text" },
    isUnsigned: true,
    delivery: (content) =>
      hasOnly(content, "challenge") ? inMember(content, "challenge", (challenge) => json({ challenge })) : null,
  },
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/00ad8d05f1db530909e1b96b16760b5bbc9ebe69/providers.yaml",
    { repeats: "automatic", schedule: "every minute for 30 minutes", repeatsForSeconds: 1800 },
  ),
  evidence: { kind: "sdk", by: "jsonwebtoken@9.0.3" },
});
