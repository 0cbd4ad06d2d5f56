import type { AppPreset } from "../preset.ts";

export default {
  title: "Outline",
  redirects: ["/auth/oidc.callback"],
  pkce: false,
  scopes: ["openid", "profile", "email", "offline_access"],
  claims: "The user name is preferred_username.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/outline/",
  steps: [
    "OIDC_AUTH_URI, OIDC_TOKEN_URI and OIDC_USERINFO_URI: those of the issuer",
    "OIDC_USERNAME_CLAIM=preferred_username",
    "OIDC_SCOPES=openid offline_access profile email",
  ],
} satisfies AppPreset;
