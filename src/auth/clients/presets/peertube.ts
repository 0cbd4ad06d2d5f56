import type { AppPreset } from "../preset.ts";

export default {
  title: "PeerTube (plugin auth-openid-connect)",
  redirects: ["/plugins/auth-openid-connect/router/code-cb"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "The user name is preferred_username. A group may be demanded.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/peertube/",
  steps: [
    "Administration, Plugins: settings of auth-openid-connect",
    "Discover URL: the issuer with /.well-known/openid-configuration",
    "Username property: preferred_username; signature: RS256",
  ],
} satisfies AppPreset;
