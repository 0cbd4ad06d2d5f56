import type { AppPreset } from "../preset.ts";

export default {
  title: "Synapse (Matrix)",
  redirects: ["/_synapse/client/oidc/callback"],
  pkce: false,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "The local part is made of preferred_username.",
  backchannel: {
    path: "/_synapse/client/oidc/backchannel_logout",
    evidence: "read in a guide",
    source: "https://element-hq.github.io/synapse/latest/openid.html#oidc-back-channel-logout",
  },
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/synapse/",
  steps: [
    "homeserver.yaml, oidc_providers: issuer, discover: true",
    "backchannel_logout_enabled: true, or it learns of no logout",
    "url here is its public_baseurl",
  ],
} satisfies AppPreset;
