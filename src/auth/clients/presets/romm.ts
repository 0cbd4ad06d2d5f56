import type { AppPreset } from "../preset.ts";

export default {
  title: "RomM",
  redirects: ["/api/oauth/openid"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/romm/",
  steps: [
    "OIDC_ENABLED=true",
    "OIDC_SERVER_APPLICATION_URL: the issuer",
    "OIDC_REDIRECT_URI: its address with /api/oauth/openid",
  ],
} satisfies AppPreset;
