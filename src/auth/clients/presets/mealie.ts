import type { AppPreset } from "../preset.ts";

export default {
  title: "Mealie",
  redirects: ["/login"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "Who may log in, and who is an administrator, is made of groups.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/mealie/",
  steps: [
    "OIDC_AUTH_ENABLED=true",
    "OIDC_CONFIGURATION_URL: the issuer with /.well-known/openid-configuration",
    "OIDC_USER_GROUP and OIDC_ADMIN_GROUP: as in claims, groups",
  ],
} satisfies AppPreset;
