import { provider } from "../provider.ts";

export default provider({
  title: "Vonage",
  docs: "https://developer.vonage.com/en/getting-started/concepts/webhooks",
  schemes: { type: "jwt", header: "authorization", label: "Bearer ", algorithms: ["HS256"], bodyClaim: "payload_hash" },
  id: ["claim:jti"],
  evidence: { kind: "sdk", by: "@vonage/jwt@1.17.1" },
});
