import * as v from "valibot";
import { file, host, hostNames, integer, networks, oneOf } from "../fields.ts";
import type { Group } from "../setting.ts";

/** Settings of the address, TLS and connections. */
export const NETWORK = {
  PORT: {
    schema: v.optional(integer(0, 65_535), "3000"),
    meaning: "Port to listen on. 0 picks a free port, which the log line `server_started` names.",
    example: "8443",
  },
  HOST: {
    schema: v.optional(host),
    defaultText: "`127.0.0.1`; all addresses with `TLS_CERT_FILE`",
    meaning: "Address to listen on.",
    example: "10.0.0.5",
  },
  ALLOWED_HOSTS: {
    schema: v.optional(hostNames, ""),
    defaultText: "none",
    meaning:
      "Further names that requests may have in `Host`, besides IP addresses, the names of this machine and that of `PUBLIC_URL`. Deliveries, `/healthz` and `/readyz` answer under any name.",
    example: "auth.internal",
  },
  TLS_CERT_FILE: {
    schema: v.optional(file),
    meaning:
      "PEM certificate chain. With it the server speaks HTTPS only, TLS 1.2 or newer. A changed file is loaded while the server runs.",
    example: "/etc/authserve/fullchain.pem",
  },
  TLS_KEY_FILE: {
    schema: v.optional(file),
    meaning: "PEM private key of `TLS_CERT_FILE`. Set both or neither.",
    example: "/etc/authserve/privkey.pem",
  },
  TRUSTED_PROXIES: {
    schema: v.optional(networks),
    meaning:
      "Proxies that are believed: `X-Forwarded-For` names the client, and `X-Forwarded-Host`, `-Proto`, `-Prefix`, `-Uri`, `-Method`, `X-Original-URL` and `-Method` say what it asked for. A proxy must set or remove each of them, as the files in `deploy` do. An entry that is no address names nobody.",
    example: "127.0.0.1,10.0.0.0/8",
  },
  PROXY: {
    schema: v.optional(oneOf("nginx", "caddy", "traefik", "haproxy", "envoy")),
    defaultText: "by the headers, which must not differ",
    meaning:
      "The proxy that asks `/auth/verify`. By it only the headers count that this proxy sets: `X-Original-URL` and `-Method` of nginx, `X-Forwarded-Uri` and `-Method` of the others, none of Envoy, which asks `/auth/verify/redirect/PATH`.",
    example: "nginx",
  },
  MAX_CONNECTIONS: {
    schema: v.optional(integer(1, 1_000_000), "10000"),
    meaning: "Connections at once. Further ones are closed.",
    example: "2000",
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    schema: v.optional(integer(1, 1_000_000), "1024"),
    meaning:
      "Connections at once from one IPv4 address or IPv6 /64. Further ones are closed. Loopback and `TRUSTED_PROXIES` are exempt.",
    example: "100",
  },
} satisfies Group;
