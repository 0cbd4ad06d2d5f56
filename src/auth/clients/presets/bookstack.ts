import type { AppPreset } from "../preset.ts";

export default {
  title: "BookStack",
  redirects: ["/oidc/callback"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "The display name is name. Groups may become roles.",
  asked: "https://github.com/BookStackApp/BookStack/issues/5279",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/bookstack/",
  steps: [
    "AUTH_METHOD=oidc",
    "OIDC_ISSUER: the issuer; OIDC_ISSUER_DISCOVER=true",
    "For groups: OIDC_ADDITIONAL_SCOPES=groups, OIDC_GROUPS_CLAIM=groups, OIDC_USER_TO_GROUPS=true",
  ],
} satisfies AppPreset;
