import type { AppPreset } from "../preset.ts";

export default {
  title: "Memos",
  redirects: ["/auth/callback"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  claims: "The user name is preferred_username.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/memos/",
  steps: [
    "Settings, SSO: create OAuth2, template custom",
    "Authorization, token and user endpoint: those of the issuer",
    "Identifier: preferred_username",
  ],
} satisfies AppPreset;
