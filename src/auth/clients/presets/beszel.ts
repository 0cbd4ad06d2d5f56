import type { AppPreset } from "../preset.ts";

export default {
  title: "Beszel",
  redirects: ["/api/oauth2-redirect"],
  pkce: true,
  scopes: ["openid", "profile", "email"],
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/beszel/",
  steps: [
    "Its page /_/#/settings: options of the collection users, OAuth2, OpenID Connect",
    "Auth, token and user info URL: those of the issuer",
  ],
} satisfies AppPreset;
