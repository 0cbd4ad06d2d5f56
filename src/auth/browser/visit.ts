import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { WriteAudit } from "../../audit/store.ts";
import { AppError } from "../../errors.ts";
import type { RequestContext } from "../../http/endpoint.ts";
import { readForm } from "../../http/fields.ts";
import type { IsToKnownHost } from "../../http/known-hosts.ts";
import type { Reply } from "../../http/problem.ts";
import { removedPrefix } from "../../http/proxies.ts";
import type { Log } from "../../log.ts";
import type { Authenticate, LiveSession } from "../authenticate.ts";
import type { Ends } from "../clients/preset.ts";
import { DEVICE_ALGORITHMS, type DeviceBinding } from "../device-binding.ts";
import type { CodeLogin } from "../factors/code-login.ts";
import type { PasskeyLogin } from "../factors/passkey-login.ts";
import type { PasskeySite } from "../factors/passkeys.ts";
import type { Steps } from "../factors/steps.ts";
import type { FactorStore, FactorStores } from "../factors/store.ts";
import type { Login } from "../login.ts";
import { browserOf, type Requester } from "../open-session.ts";
import type { People, Person } from "../people/people.ts";
import type { SessionStore } from "../sessions.ts";
import { type BrowserMarks, KNOWN_BROWSER_MS } from "../throttle/browser-mark.ts";
import { type AccessClaims, readToken } from "../token.ts";
import type { Cookie } from "./cookie.ts";
import { authenticateCookie, requireSameSite } from "./guard.ts";
import { type Html, html, redirect } from "./html.ts";
import { type RedirectRules, redirectTarget, refusalText, type Target, withRd } from "./redirect-target.ts";
import type { Lifetimes } from "./renewal.ts";
import type { Texts } from "./texts.ts";

/** What the pages use. `now` is in Unix milliseconds. */
export interface BrowserParts {
  login: Login;
  authenticate: Authenticate;
  sessions: SessionStore;
  cookie: Cookie;
  /** The marks of browsers that have logged in, and their cookie. */
  marks: BrowserMarks;
  markCookie: Cookie;
  codeLogin: CodeLogin;
  /** What browsers have begun, and its cookie. */
  steps: Steps;
  stepCookie: Cookie;
  people: People;
  /** The factors of one person. */
  factorsOf: (person: Person) => FactorStore;
  /** Those of everybody. */
  listFactors: FactorStores["listAll"];
  /** Null where browsers allow no passkeys. */
  passkeys: PasskeyParts | null;
  /** Null where sessions are not bound to devices. */
  device: DeviceParts | null;
  rules: RedirectRules;
  lifetimes: Lifetimes;
  /** How long a login that is kept lasts; 0 if the login page does not offer that. */
  keptSeconds: number;
  /** Signs renewed tokens. */
  secret: string;
  trustedProxies: BlockList | undefined;
  isToKnownHost: IsToKnownHost;
  /** Whether there is the admin page. */
  hasAdmin: boolean;
  /** The apps that take part in a session. */
  appsIn: (sid: string) => Promise<AppInSession[]>;
  /** The app that a login is for that leads to a path of this service. */
  appAt: (target: string) => AppOfLogin | null;
  log: Log;
  audit: WriteAudit;
  now: () => number;
}

/** The app that a login is for. */
export interface AppOfLogin {
  name: string;
  /** The origin or scheme that the form of the login may then lead to. */
  formTarget: string;
  /** Who logs in, as far as the app knows. */
  loginHint: string | null;
}

/** An app that takes part in a session, and when it ends it. */
export interface AppInSession {
  name: string;
  ends: Ends;
}

/** What the pages need for passkeys. */
export interface PasskeyParts {
  site: PasskeySite;
  /** The origins whose pages may use passkeys of the RP ID of the site. */
  origins: readonly string[];
  login: PasskeyLogin;
  challengeCookie: Cookie;
  readScript: () => Promise<string>;
}

/** What binds sessions to devices. */
export interface DeviceParts {
  binding: DeviceBinding;
  proofCookie: Cookie;
  /** Marks a browser that has not proved its device: for a while it is not asked again. */
  unprovedCookie: Cookie;
  /** Called for what becomes of each request to register or prove a device. */
  onProof: (outcome: "registered" | "proved" | "refused" | "ended") => void;
}

/** The largest form that is read. */
export const FORM_LIMIT = 16 * 1024;

/** The path before those of this service, as browsers see it. */
export const prefixOf = (request: IncomingMessage, { trustedProxies, rules }: BrowserParts) =>
  rules.base || removedPrefix(request, trustedProxies);

/** Leads to the login page, and from there to `rd`. */
export const toLogin = (request: IncomingMessage, parts: BrowserParts, rd: string | null = null) =>
  redirect(withRd(`${prefixOf(request, parts)}/login`, rd));

/** Reads a form that no other site may send. */
export function readOwnForm(request: IncomingMessage, { rules }: BrowserParts): Promise<Map<string, string>> {
  requireSameSite(request, [], rules.origin);
  return readForm(request, FORM_LIMIT);
}

/** Where a login leads to. What is refused is logged. */
export function targetOf(
  rd: string | null,
  { requestId, address }: Pick<RequestContext, "requestId" | "address">,
  { rules, log }: BrowserParts,
): Target {
  const target = redirectTarget(rd, rules);
  if (target.refused)
    log.warn({ event: "redirect_refused", requestId, address, ...target.refused }, refusalText(target.refused));
  return target;
}

/** The session of the cookie, if there is one. */
type BrowserSession = (LiveSession | NoSession) & { ended?: AppError };

interface NoSession {
  claims: null;
  person: null;
  /** Whether the browser proves the device of the session. */
  isBound: boolean;
}

/** A change of second factors needs a login within this time. */
const FRESH_MS = 5 * 60_000;

/** Whether the login of a session is recent enough for a change of second factors. */
export const isFresh = ({ iat = 0 }: Pick<AccessClaims, "iat">, now: number) => iat * 1000 > now - FRESH_MS;

/** Reads the session of the cookie. Throws `store_unavailable`. */
export async function sessionOf(request: IncomingMessage, parts: BrowserParts): Promise<BrowserSession> {
  try {
    return await authenticateCookie(request, parts, parts.authenticate);
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "store_unavailable") throw error;
    const isKnown = error.code === "session_invalidated" || error.code === "device_not_proved";
    return { claims: null, person: null, isBound: false, ...(isKnown && { ended: error }) };
  }
}

/** From where somebody logs in with a form. */
export async function requesterOf(
  { request, requestId, address }: RequestContext,
  parts: BrowserParts,
  fields: Map<string, string>,
): Promise<Requester> {
  const { marks, markCookie } = parts;
  const way = keepIn(fields, parts) ? "kept" : "form";
  const mark = await marks.read(markCookie.read(request));
  return { address, requestId, userAgent: request.headers["user-agent"], way, mark };
}

/** The field of a form that asks to stay logged in. */
export const KEEP = "keep";

/** Whether a form, or the address of the second step, asks to stay logged in. Null where the page does not offer it. */
export const keepIn = (fields: Pick<Map<string, string>, "get"> | URLSearchParams, { keptSeconds }: BrowserParts) =>
  keptSeconds === 0 ? null : fields.get(KEEP) === "1";

/** Gives a browser its session and `more` cookies, and leads it to the target. */
export function loggedIn(
  accessToken: string,
  target: string,
  request: IncomingMessage,
  requester: Requester,
  parts: BrowserParts,
  more: readonly string[] = [],
): Reply {
  const { people, cookie, marks, markCookie, lifetimes, keptSeconds } = parts;
  const { claims } = readToken(accessToken, [parts.secret]);
  const { cookies, headers } = offerBinding(claims, request, parts);
  const person = claims && people.byId(claims.sub);
  const mark = person && marks.issue(person, browserOf(requester, person) ?? undefined);
  return redirect(target, {
    ...headers,
    "Set-Cookie": [
      cookie.set(accessToken, requester.way === "kept" ? keptSeconds : lifetimes.ttlSeconds),
      ...(mark === null ? [] : [markCookie.set(mark, KNOWN_BROWSER_MS / 1000)]),
      ...more,
      ...cookies,
    ],
  });
}

/** Where browsers register the key of a device. */
export const REGISTER_PATH = "/auth/bound/register";

/** Offers a browser to bind its new session to its device, unless it has not proved one lately. */
function offerBinding(claims: AccessClaims | null, request: IncomingMessage, { device, rules }: BrowserParts) {
  if (device === null || claims === null || device.unprovedCookie.read(request).length > 0)
    return { cookies: [], headers: {} };
  const challenge = device.binding.registrationChallenge(claims.sid);
  const path = `${rules.origin}${rules.base}${REGISTER_PATH}`;
  const offer = `(${DEVICE_ALGORITHMS.join(" ")});path="${path}";challenge="${challenge}"`;
  // While the browser has a cookie of this name, it would not prove the device.
  const cookies = device.proofCookie.read(request).length === 0 ? [] : [device.proofCookie.clear()];
  return { cookies, headers: { "Secure-Session-Registration": offer } };
}

const BEARER = { "WWW-Authenticate": "Bearer" };

/** The words of the API for a wrong password are Spanish, and on the page in every language. */
const wrongText = (text: string, lang: string): string | Html =>
  lang === "es" ? text : html`${text} <span lang="es">(Credenciales inválidas)</span>`;

/** How a page tells that a login was refused. Throws errors of another kind. */
export function refusalOf(
  error: AppError,
  { errors, lang }: Texts,
): { status: number; text: string | Html; headers: Record<string, string> } {
  const seconds = error.retryAfterSeconds ?? 1;
  const retry = { "Retry-After": String(seconds) };
  switch (error.code) {
    case "invalid_credentials":
      return { status: 401, text: wrongText(errors.invalid_credentials, lang), headers: BEARER };
    case "invalid_code":
      return { status: 401, text: errors.invalid_code, headers: BEARER };
    case "too_many_attempts":
      return { status: 429, text: errors.too_many_attempts(seconds), headers: retry };
    case "login_busy":
    case "store_unavailable":
      return { status: 503, text: errors.unavailable, headers: retry };
    default:
      throw error;
  }
}

/** The query of a request target. */
export function queryOf({ url = "" }: IncomingMessage): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : url.slice(at));
}
