import type { AppPreset } from "../preset.ts";

export default {
  title: "Nextcloud (user_oidc)",
  redirects: ["/apps/user_oidc/code"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  backchannel: {
    path: "/index.php/apps/user_oidc/backchannel-logout/authserve",
    evidence: "read in a guide",
    source: "https://github.com/nextcloud/user_oidc#backchannel-logout",
  },
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/nextcloud/",
  steps: [
    "Administration settings, OpenID Connect, of the app user_oidc",
    "Identifier: authserve",
    "Discovery endpoint: the issuer with /.well-known/openid-configuration",
  ],
} satisfies AppPreset;
