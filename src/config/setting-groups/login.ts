import * as v from "valibot";
import {
  domain,
  duration,
  durationOrOff,
  email,
  MAX_AGE,
  oneOf,
  origins,
  passwordHash,
  publicUrl,
  strongSecret,
  text,
  ttl,
  userId,
} from "../fields.ts";
import type { Group } from "../setting.ts";

/** Settings of the user, passwords and tokens. */
export const LOGIN = {
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
  INITIAL_PASSWORD: {
    schema: v.optional(text),
    secret: true,
    meaning:
      "The user's password for `serve --init`, which writes its hash to `.env` at the first start. Later it has no effect.",
    example: "/run/secrets/initial_password",
  },
  DEMO_USER_ID: {
    schema: v.optional(userId, "1"),
    meaning: "The user's identifier: the claim `sub` in tokens, and `userId` in answers and log lines.",
    example: "user-7",
  },
} satisfies Group;

/** Settings of the pages and the cookie. */
export const BROWSERS = {
  PUBLIC_URL: {
    schema: v.optional(publicUrl),
    defaultText: "the address of the ready line on loopback; else none, and there are no pages and no cookie",
    meaning:
      "Address under which browsers reach this service, also with a path that the proxy removes, e.g. `https://example.com/sso`. With it there are a login page, a cookie and `/auth/verify` for proxies.",
    example: "https://auth.example.com",
  },
  COOKIE_DOMAIN: {
    schema: v.optional(domain),
    defaultText: "none: the cookie is for the host of `PUBLIC_URL` only",
    meaning:
      "Domain whose subdomains share the cookie, so that apps there can be protected. `PUBLIC_URL` must be in it.",
    example: "example.com",
  },
  PASSKEY_RP_ID: {
    schema: v.optional(domain),
    defaultText: "`COOKIE_DOMAIN`, or else the host of `PUBLIC_URL`",
    meaning:
      "Domain that passkeys belong to (RP ID). After a change of `PUBLIC_URL` or `COOKIE_DOMAIN` set it to the value before, so that passkeys still work. If `PUBLIC_URL` is not in it, its `https://…/.well-known/webauthn` must lead to this service.",
    example: "auth.example.com",
  },
  PASSKEY_ORIGINS: {
    schema: v.optional(origins, ""),
    defaultText: "none",
    meaning:
      "Origins of other servers that use the same `PASSKEY_RP_ID`. `/.well-known/webauthn` names them besides that of `PUBLIC_URL`. Browsers take at most 5 names in front of a public suffix.",
    example: "https://auth.example.net",
  },
  REDIRECT_ORIGINS: {
    schema: v.optional(origins, ""),
    defaultText: "none",
    meaning:
      "Origins that a login may lead back to, besides `PUBLIC_URL` and https origins within `COOKIE_DOMAIN`. Other targets lead to the start page.",
    example: "https://app.example.net",
  },
  ACCESS_LOG: {
    schema: v.optional(oneOf("on", "off"), "off"),
    meaning:
      "`on` writes each answer of `/auth/verify` to `access.log` in `DATA_DIR`, for `authserve access log`: time, host, path without query, method, address, decision, and who asked. The newest 10 to 20 MiB are kept.",
    example: "on",
  },
  SESSION_MAX_AGE: {
    schema: v.optional(duration(1000, "7d", MAX_AGE), "7d"),
    meaning:
      "How long a session lasts since the login if it is renewed while a browser uses it. After `JWT_TTL` without use it ends. A login on the page never lasts longer, also with a longer `JWT_TTL`, unless it is kept: see `KEEP_LOGGED_IN`.",
    example: "12h",
  },
  KEEP_LOGGED_IN: {
    schema: v.optional(durationOrOff(1000, "30d", MAX_AGE), "30d"),
    meaning:
      "How long a login with *Keep me logged in* lasts, also without use. Another login, a logout and a changed password end it before. `off`: the login page does not offer it.",
    example: "90d",
  },
  DEVICE_BOUND: {
    schema: v.optional(durationOrOff(1000, "5m", { ms: 3_600_000, text: "at most 1h" }), "10m"),
    meaning:
      "How long a proof of the device lasts, in browsers that can [bind a session to it](../protect-an-app.md#bound-to-the-device): a copied cookie opens nothing after it. Chromium proves it only a few times in ten minutes. `off` binds no session.",
    example: "5m",
  },
  CORS_ALLOWED_ORIGINS: {
    schema: v.optional(origins, ""),
    defaultText: "none",
    meaning: "Origins of single-page apps that may call `/auth/*` from a browser, with the cookie.",
    example: "https://app.example.com",
  },
} satisfies Group;
