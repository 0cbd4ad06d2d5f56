import type { AppPreset } from "../preset.ts";

export default {
  title: "Grafana",
  redirects: ["/login/generic_oauth"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "The login is preferred_username. Roles may be made of groups.",
  asked: "https://github.com/grafana/grafana/pull/114950",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/grafana/",
  steps: [
    "grafana.ini, [auth.generic_oauth]: enabled = true, use_pkce = true",
    "auth_url, token_url and api_url: those of the issuer",
    "login_attribute_path = preferred_username",
  ],
} satisfies AppPreset;
