import type { AppPreset } from "../preset.ts";

export default {
  title: "Portainer",
  redirects: [""],
  pkce: false,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "The user name is preferred_username.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/portainer/",
  steps: [
    "Settings, Authentication: OAuth, custom",
    "Redirect URL: the address of Portainer, as in url",
    "User identifier: preferred_username; auth style: in params",
  ],
} satisfies AppPreset;
