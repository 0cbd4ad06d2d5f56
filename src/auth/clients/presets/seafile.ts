import type { AppPreset } from "../preset.ts";

export default {
  title: "Seafile",
  redirects: ["/oauth/callback/"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  claims: "The user is known by sub.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/seafile/",
  steps: [
    "seahub_settings.py: ENABLE_OAUTH = True",
    "OAUTH_AUTHORIZATION_URL, OAUTH_TOKEN_URL and OAUTH_USER_INFO_URL: those of the issuer",
    "OAUTH_ATTRIBUTE_MAP: sub is the uid",
  ],
} satisfies AppPreset;
