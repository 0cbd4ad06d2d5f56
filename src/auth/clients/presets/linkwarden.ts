import type { AppPreset } from "../preset.ts";

export default {
  title: "Linkwarden",
  redirects: ["/api/v1/auth/callback/authelia"],
  pkce: false,
  scopes: ["openid", "profile", "email", "groups"],
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/linkwarden/",
  steps: [
    "NEXT_PUBLIC_AUTHELIA_ENABLED=true",
    "AUTHELIA_WELLKNOWN_URL: the issuer with /.well-known/openid-configuration",
    "AUTHELIA_CLIENT_ID and AUTHELIA_CLIENT_SECRET",
  ],
} satisfies AppPreset;
