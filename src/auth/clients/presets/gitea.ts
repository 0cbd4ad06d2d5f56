import type { AppPreset } from "../preset.ts";

export default {
  title: "Gitea",
  redirects: ["/user/oauth2/authserve/callback"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  asked: "https://github.com/go-gitea/gitea/issues/20225",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/gitea/",
  steps: [
    "Site administration, Authentication sources: OAuth2, OpenID Connect",
    "Authentication name: authserve",
    "Auto discovery URL: the issuer with /.well-known/openid-configuration",
  ],
} satisfies AppPreset;
