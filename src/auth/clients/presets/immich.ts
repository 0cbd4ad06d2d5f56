import type { AppPreset } from "../preset.ts";

export default {
  title: "Immich",
  redirects: ["/auth/login", "/user-settings", "app.immich:///oauth-callback"],
  pkce: true,
  scopes: ["openid", "profile", "email"],
  claims: "The storage label is preferred_username, when the user is created.",
  backchannel: {
    path: "/api/oauth/backchannel-logout",
    evidence: "read in source",
    source: "https://github.com/immich-app/immich/blob/main/server/src/controllers/oauth.controller.ts",
  },
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/immich/",
  steps: ["Administration, Settings, OAuth: enable it", "Scope: openid profile email", "Signing algorithm: RS256"],
} satisfies AppPreset;
