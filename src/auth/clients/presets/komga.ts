import type { AppPreset } from "../preset.ts";

export default {
  title: "Komga",
  redirects: ["/login/oauth2/code/authserve"],
  pkce: false,
  scopes: ["openid", "profile", "email"],
  claims: "The user name is preferred_username.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/komga/",
  steps: [
    "application.yml: a registration authserve, and a provider authserve with issuer-uri",
    "redirect-uri ends with /login/oauth2/code/authserve",
    "user-name-attribute: preferred_username",
  ],
} satisfies AppPreset;
