import type { AppPreset } from "../preset.ts";

export default {
  title: "Vaultwarden",
  redirects: ["/identity/connect/oidc-signin"],
  pkce: true,
  scopes: ["openid", "profile", "email", "offline_access"],
  asked: "https://github.com/Timshel/vaultwarden/issues/20",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/vaultwarden/",
  steps: ["SSO_ENABLED=true", "SSO_PKCE=true", "SSO_SCOPES=profile email offline_access"],
} satisfies AppPreset;
