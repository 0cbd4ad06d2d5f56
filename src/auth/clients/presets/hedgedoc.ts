import type { AppPreset } from "../preset.ts";

export default {
  title: "HedgeDoc",
  redirects: ["/auth/oauth2/callback"],
  pkce: false,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "The user name is preferred_username. A group may be demanded.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/hedge-doc/",
  steps: [
    "CMD_OAUTH2_AUTHORIZATION_URL, _TOKEN_URL and _USER_PROFILE_URL: those of the issuer",
    "CMD_OAUTH2_USER_PROFILE_USERNAME_ATTR=preferred_username",
    "CMD_OAUTH2_SCOPE=openid email profile groups",
  ],
} satisfies AppPreset;
