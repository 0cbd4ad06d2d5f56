import type { AppPreset } from "../preset.ts";

export default {
  title: "pgAdmin",
  redirects: ["/oauth2/authorize"],
  pkce: true,
  scopes: ["openid", "profile", "email"],
  claims: "The user name is the e-mail address.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/pgadmin/",
  steps: [
    "config_local.py: AUTHENTICATION_SOURCES = ['oauth2', 'internal']",
    "OAUTH2_CONFIG: OAUTH2_SERVER_METADATA_URL, OAUTH2_CHALLENGE_METHOD S256",
    "OAUTH2_USERNAME_CLAIM: email",
  ],
} satisfies AppPreset;
