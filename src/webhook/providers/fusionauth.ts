import { randomUUID } from "node:crypto";
import { provider } from "../provider.ts";
import type { JwtScheme } from "../signature/schemes.ts";

const TOKEN: Omit<JwtScheme, "algorithms"> = {
  type: "jwt",
  header: "x-fusionauth-signature-jwt",
  label: "",
  bodyClaim: "request_body_sha256",
  bodyEncoding: "base64",
};

export default provider({
  title: "FusionAuth",
  docs: "https://fusionauth.io/docs/extend/events-and-webhooks/signing",
  // The key that signs is chosen there. Public ones are at https://HOST/.well-known/jwks.json.
  schemes: [
    { ...TOKEN, algorithms: ["HS256", "HS384", "HS512"] },
    { ...TOKEN, algorithms: ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"] },
  ],
  id: ["body:event.id"],
  type: ["body:event.type"],
  sample: {
    type: "user.create",
    newId: randomUUID,
    content: {
      json: ({ id, type, now }) => ({
        event: {
          id,
          type,
          createInstant: now,
          tenantId: randomUUID(),
          user: { id: randomUUID(), email: "user@example.com", active: true, verified: true },
        },
      }),
    },
  },
});
