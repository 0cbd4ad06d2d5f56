import type { AppParts } from "../app.ts";
import { appAt } from "../auth/browser/client-authorization.ts";
import {
  createChallengeCookie,
  createInvitationCookie,
  createMarkCookie,
  createProofCookie,
  createSessionCookie,
  createStepCookie,
  createUnprovedCookie,
} from "../auth/browser/cookie.ts";
import type { InvitationParts } from "../auth/browser/invitation.ts";
import type { VerifyParts } from "../auth/browser/verify.ts";
import type { BrowserParts, DeviceParts } from "../auth/browser/visit.ts";
import { createDeviceBinding, type DeviceBinding } from "../auth/device-binding.ts";
import { faultOfPasskeys, type PasskeySite, passkeySiteOf } from "../auth/factors/passkeys.ts";
import { createSteps } from "../auth/factors/steps.ts";
import { type FactorStore, type FactorStores, factorsOf } from "../auth/factors/store.ts";
import type { TokenStore } from "../auth/machine-tokens/store.ts";
import { hashPassword } from "../auth/password.ts";
import { forEachPerson, MAX_PEOPLE, type People } from "../auth/people/people.ts";
import type { PersonStore } from "../auth/people/store.ts";
import { createBrowserMarks } from "../auth/throttle/browser-mark.ts";
import type { ThrottleStore } from "../auth/throttle/store.ts";
import type { Settings } from "../config/settings.ts";
import { faultText } from "../errors.ts";
import { publicUrlOf } from "../http/listen.ts";
import { createConcurrencyLimit } from "../lib/concurrency-limit.ts";
import type { Log } from "../log.ts";
import { readPasskeyScript } from "../platform/checkout.ts";
import type { Clients } from "./clients.ts";
import { keptSeconds, type Logins, pageTtlSeconds } from "./login.ts";

interface BrowserNeeds
  extends Pick<BrowserParts, "authenticate" | "sessions" | "isToKnownHost" | "log" | "audit" | "now">,
    Pick<VerifyParts, "machineTokens" | "onQuestionFault">,
    Pick<DeviceParts, "onProof"> {
  logins: Logins;
  binding: DeviceBinding | null;
  /** All that verify tokens; that of `JWT_SECRET` is the first. */
  secrets: readonly string[];
  throttle: ThrottleStore;
  people: People;
  factors: FactorStores;
  clients: Pick<Clients, "list" | "appsIn">;
  tokens: Pick<TokenStore, "list">;
}

/** What binds sessions to devices. Null without TLS, where browsers offer none, and if `DEVICE_BOUND` is off. */
export function openBinding(
  settings: Settings,
  url: string,
  parts: Pick<Parameters<typeof createDeviceBinding>[0], "secrets" | "now">,
): DeviceBinding | null {
  const { DEVICE_BOUND: proofMs } = settings;
  if (proofMs === 0 || publicUrlOf(settings, url)?.startsWith("https:") !== true) return null;
  return createDeviceBinding({ ...parts, proofSeconds: Math.floor(proofMs / 1000) });
}

/** The pages, the cookie and forward-auth. Null without `PUBLIC_URL`, unless the server listens on loopback only. */
export function openBrowser(
  settings: Settings,
  url: string,
  { logins, secrets, throttle, people, factors: stores, clients, binding, onProof, ...parts }: BrowserNeeds,
): AppParts["browser"] {
  const { COOKIE_DOMAIN: cookieDomain, REDIRECT_ORIGINS: allowedOrigins } = settings;
  const publicUrl = publicUrlOf(settings, url);
  if (publicUrl === null) return null;
  const { origin } = new URL(publicUrl);
  const base = publicUrl.slice(origin.length);
  const steps = createSteps(secrets, people, stores, parts.now);
  const site = passkeySiteOf(publicUrl, settings);
  const factors = forEachPerson(people, ({ account }) => factorsOf(stores, account));
  for (const person of people.list()) void warnOfPasskeys(factors(person), site, parts.log);
  return {
    ...parts,
    login: logins.login,
    codeLogin: logins.codeLogin,
    steps,
    people,
    factorsOf: factors,
    listFactors: stores.listAll,
    passkeys: site && {
      site,
      origins: [origin, ...settings.PASSKEY_ORIGINS],
      login: logins.passkeyLogin(site, steps, parts.audit),
      challengeCookie: createChallengeCookie(origin),
      readScript: createScriptReader(),
    },
    device: binding && {
      binding,
      proofCookie: createProofCookie(origin, cookieDomain),
      unprovedCookie: createUnprovedCookie(origin),
      onProof,
    },
    stepCookie: createStepCookie(origin),
    secret: settings.JWT_SECRET,
    secrets,
    cookie: createSessionCookie(origin, cookieDomain),
    marks: createBrowserMarks(secrets, people, throttle, parts.now),
    markCookie: createMarkCookie(origin),
    rules: { origin, base, allowedOrigins, cookieDomain },
    lifetimes: { ttlSeconds: pageTtlSeconds(settings), sessionMaxAgeSeconds: settings.SESSION_MAX_AGE / 1000 },
    keptSeconds: keptSeconds(settings),
    publicUrl,
    hasAdmin: settings.ADMIN === "on",
    appsIn: clients.appsIn,
    appAt: (target) => appAt(target, { clients: clients.list(), base }),
    trustedProxies: settings.TRUSTED_PROXIES,
    proxyFamily: settings.PROXY && FAMILIES[settings.PROXY],
  };
}

/** What the links of `people invite` use. Each of them costs one hash, so that the queue has room for all. */
export function openInvitations({ rules }: Pick<BrowserParts, "rules">, store: PersonStore): InvitationParts {
  const hashes = createConcurrencyLimit({ width: 1, queueLimit: MAX_PEOPLE });
  return {
    store,
    invitationCookie: createInvitationCookie(rules.origin),
    hashPassword: (password) => hashes.run(() => hashPassword(password)),
  };
}

/** What of each proxy names the request that it asks about. */
const FAMILIES = {
  nginx: "original",
  caddy: "forwarded",
  traefik: "forwarded",
  haproxy: "forwarded",
  envoy: "question",
} as const;

/** Reads the script of passkeys once, at the first page that needs it. */
function createScriptReader(): () => Promise<string> {
  let reading: Promise<string> | undefined;
  return () => {
    reading ??= readPasskeyScript().then(String);
    reading.catch(() => {
      reading = undefined;
    });
    return reading;
  };
}

/** Logs passkeys that cannot be used. In an outage of the store, doctor and the page tell it later. */
async function warnOfPasskeys(factors: FactorStore, site: PasskeySite | null, log: Log): Promise<void> {
  const fault = faultOfPasskeys(await factors.list().catch(() => []), site);
  if (fault !== null) log.warn({ event: "passkeys_unusable" }, faultText(fault));
}
