import type { AppPreset } from "../preset.ts";

export default {
  title: "Paperless-ngx",
  redirects: ["/accounts/oidc/authserve/login/callback/"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/paperless/",
  steps: [
    "PAPERLESS_APPS=allauth.socialaccount.providers.openid_connect",
    "PAPERLESS_SOCIALACCOUNT_PROVIDERS: an app with provider_id authserve",
    "In it server_url: the issuer, and OAUTH_PKCE_ENABLED: true",
  ],
} satisfies AppPreset;
