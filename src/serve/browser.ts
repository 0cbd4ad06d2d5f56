import { createSessionCookie } from "../auth/browser/cookie.ts";
import type { BrowserParts } from "../auth/browser/routes.ts";
import type { VerifyParts } from "../auth/browser/verify.ts";
import type { Settings } from "../config/settings.ts";
import { publicOriginOf } from "../http/listen.ts";

/** The pages, the cookie and forward-auth. Null without `PUBLIC_URL`, unless the server listens on loopback only. */
export function openBrowser(
  settings: Settings,
  url: string,
  parts: Pick<BrowserParts, "login" | "authenticate" | "sessions" | "secret" | "log" | "now">,
): (BrowserParts & VerifyParts) | null {
  const { COOKIE_DOMAIN: cookieDomain, REDIRECT_ORIGINS: allowedOrigins } = settings;
  const origin = publicOriginOf(settings, url);
  if (origin === null) return null;
  return {
    ...parts,
    cookie: createSessionCookie(origin, cookieDomain),
    rules: { origin, allowedOrigins, cookieDomain },
    lifetimes: { ttlSeconds: settings.JWT_TTL.seconds, sessionMaxAgeSeconds: settings.SESSION_MAX_AGE / 1000 },
    origin,
    trustedProxies: settings.TRUSTED_PROXIES,
  };
}
