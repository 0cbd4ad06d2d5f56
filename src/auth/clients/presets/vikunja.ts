import type { AppPreset } from "../preset.ts";

export default {
  title: "Vikunja",
  redirects: ["/auth/openid/authserve"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  asked: "https://github.com/go-vikunja/vikunja/issues/2158",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/vikunja/",
  steps: [
    "config.yml, auth.openid: enabled: true",
    "providers: authserve: authurl is the issuer",
    "scope: openid profile email",
  ],
} satisfies AppPreset;
