import type { AppPreset } from "../preset.ts";

export default {
  title: "Home Assistant (hass-oidc-auth)",
  redirects: ["/auth/oidc/callback"],
  pkce: true,
  scopes: ["openid", "profile", "groups"],
  claims: "Roles are made of groups.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/home-assistant/",
  steps: [
    "configuration.yaml: auth_oidc with client_id and client_secret",
    "discovery_url: the issuer with /.well-known/openid-configuration",
    "roles: admin: the group of administrators",
  ],
} satisfies AppPreset;
