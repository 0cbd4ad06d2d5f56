import type { AppPreset } from "../preset.ts";

export default {
  title: "Mastodon",
  redirects: ["/auth/auth/openid_connect/callback"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  claims: "The user name is preferred_username.",
  asked: "https://github.com/mastodon/mastodon/issues/21162",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/mastodon/",
  steps: [
    "OIDC_ENABLED=true, OIDC_DISCOVERY=true",
    "OIDC_REDIRECT_URI: its address with /auth/auth/openid_connect/callback",
    "OIDC_UID_FIELD=preferred_username, OIDC_SECURITY_ASSUME_EMAIL_IS_VERIFIED=true",
  ],
} satisfies AppPreset;
