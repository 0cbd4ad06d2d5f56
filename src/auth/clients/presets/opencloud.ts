import type { AppPreset } from "../preset.ts";

export default {
  title: "OpenCloud (web)",
  redirects: ["/", "/oidc-callback.html", "/oidc-silent-redirect.html"],
  isPublic: true,
  pkce: true,
  scopes: ["openid", "profile", "email", "groups", "offline_access"],
  claims: "The user name is preferred_username, and roles are made of groups.",
  backchannel: {
    path: "/backchannel_logout",
    evidence: "read in a guide",
    source:
      "https://github.com/opencloud-eu/docs/blob/main/docs/admin/configuration/authentication-and-user-management/keycloak.md#backchannel-logout",
  },
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/opencloud/",
  steps: [
    "OC_OIDC_ISSUER: the issuer; OC_EXCLUDE_RUN_SERVICES=idp",
    "WEBFINGER_WEB_OIDC_CLIENT_ID: the name of the client",
    "The apps for phones and desktops are clients of their own",
  ],
} satisfies AppPreset;
