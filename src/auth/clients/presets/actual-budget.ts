import type { AppPreset } from "../preset.ts";

export default {
  title: "Actual Budget",
  redirects: ["/openid/callback"],
  pkce: false,
  scopes: ["openid", "profile", "email", "groups"],
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/actual-budget/",
  steps: [
    "ACTUAL_OPENID_DISCOVERY_URL: the issuer",
    "ACTUAL_OPENID_SERVER_HOSTNAME: its own address, as in url",
    "ACTUAL_OPENID_AUTH_METHOD=oauth2",
  ],
} satisfies AppPreset;
