import * as v from "valibot";
import { LOG_FORMATS, LOG_LEVELS } from "../log.ts";
import {
  directory,
  diskSize,
  domain,
  duration,
  email,
  file,
  fraction,
  host,
  integer,
  LONGEST_AGE,
  LONGEST_WAIT,
  networks,
  oneOf,
  origin,
  origins,
  passwordHash,
  path,
  signingSecret,
  size,
  strongSecret,
  text,
  ttl,
  url,
  userId,
} from "./fields.ts";
import type { Group } from "./setting.ts";
import { DATABASE, REDIS } from "./store-settings.ts";

const LOGIN = {
  JWT_SECRET: {
    schema: strongSecret,
    secret: true,
    meaning:
      "Signs and verifies tokens. It needs 8 different characters or more. A repeated short text and a publicly known secret are refused.",
    example: "/etc/authserve/jwt_secret",
  },
  JWT_SECRET_PREVIOUS: {
    schema: v.optional(strongSecret),
    secret: true,
    meaning: "Verifies tokens signed with an earlier secret. It never signs.",
    example: "/etc/authserve/jwt_secret_previous",
  },
  JWT_TTL: {
    schema: v.optional(ttl, "900s"),
    meaning:
      "Lifetime of tokens and sessions: a whole number and `s`, `m`, `h` or `d`. Text of another form means 900s, and a warning is logged.",
    example: "12h",
  },
  DEMO_EMAIL: {
    schema: email,
    meaning: "The user's e-mail address. A change ends the user's session at the next start.",
    example: "you@example.com",
  },
  DEMO_PASSWORD: {
    schema: passwordHash,
    secret: true,
    meaning:
      "Hash of the user's password, made by `authserve hash-password`. Accepted are argon2id (m up to 256 MiB, t up to 10, p up to 8) and bcrypt (cost 4 to 15). With bcrypt, passwords over 72 bytes are refused. A change ends the user's session at the next start.",
    example: "/etc/authserve/demo_password",
  },
  DEMO_USER_ID: {
    schema: v.optional(userId, "1"),
    meaning: "The user's identifier: the claim `sub` in tokens, and `userId` in answers and log lines.",
    example: "user-7",
  },
} satisfies Group;

const BROWSERS = {
  PUBLIC_URL: {
    schema: v.optional(origin),
    defaultText: "the address of the ready line on loopback; else none, and there are no pages and no cookie",
    meaning:
      "Origin under which browsers reach this service. With it there are a login page, a cookie and `/auth/verify` for proxies.",
    example: "https://auth.example.com",
  },
  COOKIE_DOMAIN: {
    schema: v.optional(domain),
    defaultText: "none: the cookie is for the host of `PUBLIC_URL` only",
    meaning:
      "Domain whose subdomains share the cookie, so that apps there can be protected. `PUBLIC_URL` must be in it.",
    example: "example.com",
  },
  REDIRECT_ORIGINS: {
    schema: v.optional(origins, ""),
    defaultText: "none",
    meaning:
      "Origins that a login may lead back to, besides `PUBLIC_URL` and https origins within `COOKIE_DOMAIN`. Other targets lead to the start page.",
    example: "https://app.example.net",
  },
  SESSION_MAX_AGE: {
    schema: v.optional(duration(1000, "7d", LONGEST_AGE), "7d"),
    meaning:
      "How long a session lasts since the login if it is renewed while a browser uses it. After `JWT_TTL` without use it ends.",
    example: "12h",
  },
  CORS_ALLOWED_ORIGINS: {
    schema: v.optional(origins, ""),
    defaultText: "none",
    meaning: "Origins of single-page apps that may call `/auth/*` from a browser, with the cookie.",
    example: "https://app.example.com",
  },
} satisfies Group;

const NETWORK = {
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
      "Proxies whose `X-Forwarded-For` names the client. Entries of that header may have ports. No other forwarding header is read.",
    example: "127.0.0.1,10.0.0.0/8",
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

const WEBHOOKS = {
  WEBHOOK_SECRET: {
    schema: v.optional(text),
    secret: true,
    meaning: "Secret shared with the sender of webhooks. Without it there is no webhook route.",
    example: "/etc/authserve/webhook_secret",
  },
  WEBHOOK_SECRET_PREVIOUS: {
    schema: v.optional(text),
    secret: true,
    meaning: "An earlier secret that is accepted as well, while the sender changes to a new one.",
    example: "/etc/authserve/webhook_secret_previous",
  },
  WEBHOOK_PATH: {
    schema: v.optional(path, "/webhook"),
    meaning: "Path of the webhook route. It must not lie below `/auth`, `/healthz`, `/readyz` or `/metrics`.",
    example: "/hooks/stripe",
  },
  WEBHOOK_ALLOWED_ADDRESSES: {
    schema: v.optional(networks),
    defaultText: "all addresses",
    meaning: "Addresses that may deliver. Others get 403 `address_not_allowed`.",
    example: "192.30.252.0/22,2606:50c0::/32",
  },
  WEBHOOK_BODY_LIMIT: {
    schema: v.optional(size, "1m"),
    meaning: "Largest body of a delivery, in bytes, or with `k` or `m`. GitHub sends up to `25m`.",
    example: "25m",
  },
  WEBHOOK_QUEUE_LIMIT: {
    schema: v.optional(integer(1, 1_000_000), "10000"),
    meaning:
      "Deliveries that may wait for their commit. Above this number, or above 64 MiB, deliveries get 503 `queue_full`.",
    example: "1000",
  },
  MIN_FREE_DISK: {
    schema: v.optional(diskSize),
    defaultText: "`256m`, or 5 % of the disk if that is less",
    meaning:
      "Free space on the disk of `DATA_DIR`, in bytes, or with `k`, `m` or `g`. Below it, deliveries get 503 `intake_paused`. They are accepted again when a quarter more than it is free. 0 switches this off.",
    example: "1g",
  },
  MAX_QUEUE_AGE: {
    schema: v.optional(duration(1000, "1h", LONGEST_AGE)),
    defaultText: "none: deliveries are accepted however old the queue is",
    meaning:
      "Age of the oldest queued event since its receipt. Above it, deliveries get 503 `intake_paused`. They are accepted again below four fifths of it.",
    example: "6h",
  },
} satisfies Group;

const PROCESSING = {
  FORWARD_URL: {
    schema: v.optional(url),
    defaultText: "none: events are logged by id and type",
    meaning:
      "URL that each event is posted to. The certificate of an `https` URL is checked with the authorities of Node and of the system. It is refused beside `routes` in the configuration file.",
    example: "http://127.0.0.1:8080/events",
  },
  FORWARD_SECRET: {
    schema: v.optional(signingSecret),
    secret: true,
    meaning: "Signs forwarded events as Standard Webhooks: `whsec_` and base64, or text.",
    example: "/etc/authserve/forward_secret",
  },
  RETRY_ATTEMPTS: {
    schema: v.optional(integer(1, 100), "10"),
    meaning: "Attempts before an event is dead-lettered.",
    example: "5",
  },
  RETRY_BACKOFF: {
    schema: v.optional(oneOf("exponential", "linear"), "exponential"),
    meaning: "`exponential` doubles the delay after each attempt, up to 10 minutes. `linear` keeps it.",
    example: "linear",
  },
  RETRY_DELAY: {
    schema: v.optional(duration(1, "1s", LONGEST_WAIT)),
    defaultText: "`1s`; `30s` with `RETRY_BACKOFF=linear`",
    meaning: "Delay before the first retry.",
    example: "5s",
  },
  RETRY_JITTER: {
    schema: v.optional(fraction, "0.2"),
    meaning: "Share of each delay that is added or subtracted at random: 0.2 means up to 20 % either way.",
    example: "0.1",
  },
  WORKER_CONCURRENCY: {
    schema: v.optional(integer(1, 1000), "10"),
    meaning: "Attempts of a route at once.",
    example: "50",
  },
  WORKER_POLL_INTERVAL: {
    schema: v.optional(duration(10, "1s"), "1s"),
    meaning: "How often the worker looks for events that other processes made due, such as `authserve events replay`.",
    example: "5s",
  },
  HANDLER_TIMEOUT: {
    schema: v.optional(duration(1, "30s"), "30s"),
    meaning: "Longest time of one attempt. After it the attempt has failed.",
    example: "10s",
  },
} satisfies Group;

const OPERATION = {
  DATA_DIR: {
    schema: v.optional(directory, "./data"),
    meaning: "Directory of the database `authserve.db`. It is created with mode 0700 if it is missing.",
    example: "/var/lib/authserve",
  },
  CONFIG_FILE: {
    schema: v.optional(file),
    defaultText: "`authserve.yaml` in the working directory, if it is there",
    meaning:
      "The [configuration file](configuration-file.md), which has further sources and routes. It is read again when it changes.",
    example: "/etc/authserve/authserve.yaml",
  },
  ADDON_DIR: {
    schema: v.optional(directory),
    defaultText: "a cache directory of the user",
    meaning:
      "Directory where the single executable unpacks its native add-ons. Only the server's user may have write access to it.",
    example: "/var/cache/authserve",
  },
  LOG_LEVEL: {
    schema: v.optional(oneOf(...LOG_LEVELS), "info"),
    meaning: "Lowest level that is logged; `silent` logs nothing. The log goes to standard output.",
    example: "warn",
  },
  LOG_FORMAT: {
    schema: v.optional(oneOf(...LOG_FORMATS)),
    defaultText: "`text` on a terminal, else `json`",
    meaning: "How a log line is written: as a JSON object for programs, or as text for people.",
    example: "json",
  },
  METRICS_ALLOWED_ADDRESSES: {
    schema: v.optional(networks, "127.0.0.0/8,::1"),
    meaning:
      "Addresses that may read `/metrics`. Others get 404. Requests with a forwarding header, such as `X-Forwarded-For` or `Via`, also get 404, unless a proxy in `TRUSTED_PROXIES` sent them with `X-Forwarded-For`. A proxy that adds no such header is not recognized.",
    example: "127.0.0.0/8,::1,10.0.0.0/8",
  },
  SHUTDOWN_TIMEOUT: {
    schema: v.optional(duration(0, "10s"), "10s"),
    meaning:
      "How long a stop waits for open requests and running attempts. Attempts still running then are interrupted and queued again.",
    example: "30s",
  },
} satisfies Group;

/** Every setting. */
export const SETTINGS = {
  ...LOGIN,
  ...BROWSERS,
  ...DATABASE,
  ...REDIS,
  ...NETWORK,
  ...WEBHOOKS,
  ...PROCESSING,
  ...OPERATION,
};

/** The settings by topic, in the order of the reference. */
export const SETTING_GROUPS: Record<string, Group> = {
  "Login and tokens": LOGIN,
  Browsers: BROWSERS,
  PostgreSQL: DATABASE,
  Redis: REDIS,
  Network: NETWORK,
  Webhooks: WEBHOOKS,
  Processing: PROCESSING,
  Operation: OPERATION,
};
