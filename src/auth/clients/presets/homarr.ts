import type { AppPreset } from "../preset.ts";

export default {
  title: "Homarr",
  redirects: ["/api/auth/callback/oidc"],
  pkce: false,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "Groups become groups of Homarr.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/homarr/",
  steps: ["AUTH_PROVIDERS=oidc", "AUTH_OIDC_ISSUER: the issuer", "AUTH_OIDC_GROUPS_ATTRIBUTE=groups"],
} satisfies AppPreset;
