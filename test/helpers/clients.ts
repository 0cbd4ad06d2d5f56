import type { Client } from "../../src/auth/clients/client.ts";

/** An app that logs in through the service, with a secret. */
export const clientWith = (changes: Partial<Client> = {}): Client => ({
  name: "grafana",
  preset: null,
  redirects: ["https://grafana.example.com/login/generic_oauth"],
  secret: "correct horse battery staple",
  logout: { backchannel: null, after: [] },
  allow: null,
  claims: { groups: ["admin"], username: null, inIdToken: true },
  sessionMaxAgeSeconds: null,
  offline: "end",
  consent: "once",
  algorithm: "RS256",
  ...changes,
});
