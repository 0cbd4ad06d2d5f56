import type { AppPreset } from "../preset.ts";

export default {
  title: "Jellyfin (plugin SSO-Auth)",
  redirects: ["/sso/OID/redirect/authserve"],
  pkce: true,
  scopes: ["openid", "profile", "groups"],
  claims: "The user name is preferred_username, and roles are groups.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/jellyfin/",
  steps: [
    "Dashboard, Plugins, SSO-Auth: add a provider with the name authserve",
    "Role claim: groups, also as an additional scope",
    "Default username claim: preferred_username; scheme override: https",
  ],
} satisfies AppPreset;
