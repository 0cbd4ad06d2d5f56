import { provider } from "../provider.ts";

export default provider({
  title: "Saleor",
  docs: "https://docs.saleor.io/developer/extending/webhooks/payload-signature",
  // The key of a shop also signs the tokens of its users, which are not signed so. It is at
  // https://SHOP/.well-known/jwks.json.
  schemes: { type: "detached-jws", header: "saleor-signature", algorithms: ["RS256"], isUnencoded: true },
  type: ["header:saleor-event"],
  evidence: {
    kind: "published",
    by: "https://github.com/saleor/app-sdk/blob/main/src/auth/verify-signature.test.ts",
  },
});
