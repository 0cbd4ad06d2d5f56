import type { AppPreset } from "../preset.ts";

export default {
  title: "Apache (mod_auth_openidc)",
  redirects: ["/protected/redirect_uri"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  backchannel: {
    path: "/protected/redirect_uri?logout=backchannel",
    evidence: "run in the tests",
    source: "https://github.com/OpenIDC/mod_auth_openidc/blob/master/test/fuzz/README.md",
  },
  evidence: "run in the tests",
  source: "https://github.com/OpenIDC/mod_auth_openidc/blob/master/auth_openidc.conf",
  steps: [
    "OIDCProviderMetadataURL: the issuer with /.well-known/openid-configuration",
    "OIDCRedirectURI /protected/redirect_uri, below a path that it protects",
    'OIDCPKCEMethod S256; OIDCScope "openid profile email groups"',
  ],
} satisfies AppPreset;
