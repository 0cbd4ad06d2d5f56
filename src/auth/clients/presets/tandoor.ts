import type { AppPreset } from "../preset.ts";

export default {
  title: "Tandoor Recipes",
  redirects: ["/accounts/oidc/authserve/login/callback/"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/tandoor/",
  steps: [
    "SOCIAL_PROVIDERS=allauth.socialaccount.providers.openid_connect",
    "SOCIALACCOUNT_PROVIDERS: an app with provider_id authserve",
    "In it server_url: the issuer with /.well-known/openid-configuration",
  ],
} satisfies AppPreset;
