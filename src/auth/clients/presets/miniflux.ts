import type { AppPreset } from "../preset.ts";

export default {
  title: "Miniflux",
  redirects: ["/oauth2/oidc/callback"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/miniflux/",
  steps: [
    "OAUTH2_PROVIDER=oidc",
    "OAUTH2_OIDC_DISCOVERY_ENDPOINT: the issuer",
    "OAUTH2_USER_CREATION=1 to let it make users",
  ],
} satisfies AppPreset;
