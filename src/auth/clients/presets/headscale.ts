import type { AppPreset } from "../preset.ts";

export default {
  title: "Headscale",
  redirects: ["/oidc/callback"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/headscale/",
  steps: [
    "config.yaml, oidc: issuer, client_id, client_secret",
    "scope: [openid, profile, email, groups]",
    "pkce: enabled: true, method: S256",
  ],
} satisfies AppPreset;
