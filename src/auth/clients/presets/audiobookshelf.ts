import type { AppPreset } from "../preset.ts";

export default {
  title: "Audiobookshelf",
  redirects: ["/auth/openid/callback", "/auth/openid/mobile-redirect", "audiobookshelf://oauth"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "Users are matched by preferred_username.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/audiobookshelf/",
  steps: [
    "Settings, Authentication, OpenID Connect: the issuer, then Auto-populate",
    "Allowed mobile redirect URIs: audiobookshelf://oauth",
    "Match existing users by username",
  ],
} satisfies AppPreset;
