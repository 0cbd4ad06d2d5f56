import type { AppPreset } from "../preset.ts";

export default {
  title: "Express (express-openid-connect)",
  redirects: ["/callback"],
  pkce: true,
  scopes: ["openid", "profile", "email", "groups"],
  backchannel: {
    path: "/backchannel-logout",
    evidence: "run in the tests",
    source: "https://github.com/auth0/express-openid-connect/pull/484",
  },
  evidence: "run in the tests",
  source: "https://github.com/auth0/express-openid-connect#readme",
  steps: [
    "auth(): issuerBaseURL is the issuer, and baseURL its own address, as in url",
    'authorizationParams: { response_type: "code", scope: "openid profile email groups" }',
    "backchannelLogout: true, with session.store, or it learns of no logout",
  ],
} satisfies AppPreset;
