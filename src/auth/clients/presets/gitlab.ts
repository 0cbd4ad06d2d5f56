import type { AppPreset } from "../preset.ts";

export default {
  title: "GitLab",
  redirects: ["/users/auth/openid_connect/callback"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "The user name is preferred_username.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/gitlab/",
  steps: [
    "gitlab.rb, omniauth_providers: openid_connect, discovery: true, pkce: true",
    "issuer: the issuer; uid_field: preferred_username",
    "client_options: identifier, secret, redirect_uri",
  ],
} satisfies AppPreset;
