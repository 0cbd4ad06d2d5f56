import type { AppPreset } from "../preset.ts";

export default {
  title: "Karakeep",
  redirects: ["/api/auth/callback/custom"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/karakeep/",
  steps: [
    "OAUTH_WELLKNOWN_URL: the issuer with /.well-known/openid-configuration",
    "OAUTH_CLIENT_ID and OAUTH_CLIENT_SECRET",
  ],
} satisfies AppPreset;
