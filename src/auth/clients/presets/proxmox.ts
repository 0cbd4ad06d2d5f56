import type { AppPreset } from "../preset.ts";

export default {
  title: "Proxmox VE",
  redirects: [""],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  claims: "Groups may become groups of Proxmox.",
  evidence: "read in a guide",
  source: "https://www.authelia.com/integration/openid-connect/clients/proxmox/",
  steps: [
    "Datacenter, Permissions, Realms: add OpenID Connect Server",
    "Scopes: openid email profile groups",
    "Choose the username claim before the first login: it is chosen once",
  ],
} satisfies AppPreset;
