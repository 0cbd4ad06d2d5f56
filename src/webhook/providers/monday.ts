import { provider } from "../provider.ts";

export default provider({
  title: "monday.com",
  docs: "https://developer.monday.com/api-reference/reference/webhooks",
  schemes: { type: "jwt", header: "authorization", algorithms: ["HS256"], audience: "url", needsExpiry: true },
  covers: "none",
  id: ["body:event.triggerUuid"],
  type: ["body:event.type"],
  handshake: "monday",
  evidence: { kind: "sdk", by: "jsonwebtoken@9.0.3" },
});
