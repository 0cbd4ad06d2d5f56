import type { AppPreset } from "../preset.ts";

export default {
  title: "Open WebUI",
  redirects: ["/oauth/oidc/callback"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "Roles may be made of groups.",
  backchannel: {
    path: "/oauth/backchannel-logout",
    evidence: "read in a guide",
    source: "https://docs.openwebui.com/features/authentication-access/auth/sso/",
  },
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/open-webui/",
  steps: [
    "OPENID_PROVIDER_URL: the issuer with /.well-known/openid-configuration",
    "OAUTH_CODE_CHALLENGE_METHOD=S256; OAUTH_SCOPES=openid email profile groups",
    "ENABLE_OAUTH_BACKCHANNEL_LOGOUT=true and REDIS_URL, or it learns of no logout",
  ],
} satisfies AppPreset;
