import type { AppParts } from "../app.ts";
import { createMarkCookie, createSessionCookie, createStepCookie } from "../auth/browser/cookie.ts";
import type { VerifyParts } from "../auth/browser/verify.ts";
import type { BrowserParts } from "../auth/browser/visit.ts";
import { createSteps } from "../auth/factors/steps.ts";
import type { FactorStore } from "../auth/factors/store.ts";
import { createBrowserMarks } from "../auth/throttle/browser-mark.ts";
import type { ThrottleStore } from "../auth/throttle/store.ts";
import { canonicalEmail } from "../auth/user.ts";
import type { Settings } from "../config/settings.ts";
import { publicUrlOf } from "../http/listen.ts";
import { type Logins, pageTtlSeconds } from "./login.ts";

interface BrowserNeeds
  extends Pick<BrowserParts, "authenticate" | "sessions" | "isToKnownHost" | "log" | "now">,
    Pick<VerifyParts, "machineTokens"> {
  logins: Logins;
  /** All that verify tokens; that of `JWT_SECRET` is the first. */
  secrets: readonly string[];
  throttle: ThrottleStore;
  factors: FactorStore;
}

/** The pages, the cookie and forward-auth. Null without `PUBLIC_URL`, unless the server listens on loopback only. */
export function openBrowser(
  settings: Settings,
  url: string,
  { logins, secrets, throttle, factors, ...parts }: BrowserNeeds,
): AppParts["browser"] {
  const { COOKIE_DOMAIN: cookieDomain, REDIRECT_ORIGINS: allowedOrigins } = settings;
  const publicUrl = publicUrlOf(settings, url);
  if (publicUrl === null) return null;
  const { origin } = new URL(publicUrl);
  const base = publicUrl.slice(origin.length);
  const credential = {
    secrets,
    email: canonicalEmail(settings.DEMO_EMAIL),
    passwordHash: settings.DEMO_PASSWORD.encoded,
  };
  return {
    ...parts,
    login: logins.login,
    codeLogin: logins.codeLogin,
    steps: createSteps(credential, factors, parts.now),
    stepCookie: createStepCookie(origin),
    user: { id: settings.DEMO_USER_ID, email: settings.DEMO_EMAIL },
    secret: settings.JWT_SECRET,
    cookie: createSessionCookie(origin, cookieDomain),
    marks: createBrowserMarks(credential, throttle, parts.now),
    markCookie: createMarkCookie(origin),
    rules: { origin, base, allowedOrigins, cookieDomain },
    lifetimes: { ttlSeconds: pageTtlSeconds(settings), sessionMaxAgeSeconds: settings.SESSION_MAX_AGE / 1000 },
    publicUrl,
    hasAdmin: settings.ADMIN === "on",
    trustedProxies: settings.TRUSTED_PROXIES,
  };
}
