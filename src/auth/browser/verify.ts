import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import * as v from "valibot";
import { AppError, type ErrorCode, type Fault, faultText } from "../../errors.ts";
import type { Endpoint, RequestContext, RequestHandler } from "../../http/endpoint.ts";
import { isNavigation } from "../../http/headers.ts";
import { problem, type Reply } from "../../http/problem.ts";
import { believed, isFromUnknownClient, isTrusted, peerAddress, NOBODY as UNKNOWN_CLIENT } from "../../http/proxies.ts";
import type { Log } from "../../log.ts";
import type { AccessOutcome } from "../access/denials.ts";
import { placeOf, UnclearQuestion } from "../access/place.ts";
import {
  type AccessRequest,
  type Allowed,
  isAllowed,
  type JudgeAccess,
  type Judgement,
  mayPassWith,
  PASSES,
} from "../access/rules.ts";
import { type Authenticate, missingToken } from "../authenticate.ts";
import { insufficientScope, type MachineTokens, wrongToken } from "../machine-tokens/machine-tokens.ts";
import { mayVerify } from "../machine-tokens/scopes.ts";
import type { TokenRecord } from "../machine-tokens/store.ts";
import { type People, type Person, personOfToken } from "../people/people.ts";
import {
  appToken,
  authenticateRequest,
  forwardedToken,
  machineTokenOf,
  type SessionCookies,
  TOKEN_HEADER,
} from "./guard.ts";
import { type OriginalRequest, originalRequest, type ProxyFamily, questionedRequest } from "./original-request.ts";
import { isShort, shortTarget, withRd } from "./redirect-target.ts";
import { createRenew, isRenewalDue, type RenewalParts } from "./renewal.ts";

/** What forward-auth uses. `now` is in Unix milliseconds. */
export interface VerifyParts extends RenewalParts {
  authenticate: Authenticate;
  /** Null where sessions are not bound to devices. */
  device: SessionCookies["device"];
  machineTokens: MachineTokens;
  people: People;
  /** Judges by the entries of `access` in the configuration file. */
  access: JudgeAccess;
  /** Called for the first fault of each kind in what proxies ask. */
  onQuestionFault: (fault: Fault) => void;
  /** Called for each answer. */
  onAccess: (outcome: AccessOutcome) => void;
  /** The address of this service, without a final `/`. */
  publicUrl: string;
  trustedProxies: BlockList | undefined;
  proxyFamily: ProxyFamily | undefined;
  log: Log;
  now: () => number;
}

/**
 * How a proxy passes a redirect on: as a 401 with `Location`, which nginx makes a redirect, or as the redirect itself.
 */
type RedirectStyle = "unauthorized" | "redirect";

type Identity = Pick<Person, "id" | "email" | "name" | "displayName" | "groups">;

const NO_PERSON: Identity = { id: "", email: "", name: "", displayName: null, groups: [] };

/** Apps read the bytes of headers as UTF-8. */
const utf8 = (text: string) => Buffer.from(text).toString("latin1");

/** The headers of who asks. All are always there, so that a proxy overwrites those of a client. */
const identity = (person: Identity, { areNamed }: Pick<People, "areNamed">, token = "") => ({
  "Remote-User": person.id,
  "Remote-Email": person.email,
  "Remote-Token": token,
  ...(areNamed() && {
    "Remote-Name": utf8(person.displayName ?? person.name),
    "Remote-Groups": person.groups.join(","),
  }),
});

const PROBLEMS: ErrorCode[] = [
  "validation_failed",
  "missing_token",
  "invalid_token",
  "session_invalidated",
  "device_not_proved",
  "session_not_bound",
  "insufficient_scope",
  "access_denied",
  "too_many_wrong_tokens",
  "store_unavailable",
];

/** nginx makes an error of its own of every status but 401 and 403. */
const PROBLEM_STATUSES = { too_many_wrong_tokens: 401 } as const;

/** What proxies ask before they let a request pass to an app. */
export function verifyEndpoints(parts: VerifyParts): Endpoint[] {
  const tellFault = createTellQuestionFault(parts);
  const endpoint = (
    path: string,
    summary: string,
    statuses: readonly number[],
    ...how: [style: RedirectStyle, endpointPath?: string]
  ): Endpoint => ({
    method: "*",
    path,
    audience: "proxies",
    summary,
    response: v.string(),
    statuses,
    problems: PROBLEMS,
    problemStatuses: PROBLEM_STATUSES,
    handler: verifyHandler({ ...parts, tellFault }, ...how),
    quiet: true,
  });
  return [
    endpoint(
      "/auth/verify",
      "Tells a proxy whether a request may pass: 200 with `Remote-User` and `Remote-Email`, with `people` in the file also `Remote-Name` (UTF-8) and `Remote-Groups` (separated by commas), and with the name of a program's token in `Remote-Token`; else 401. `Remote-Credential` is `token` if `Authorization` has a program's token, also a wrong one, which the proxy then removes. For a browser that opens a page, the 401 has the `Location` of the login page.",
      [200, 401],
      "unauthorized",
    ),
    endpoint(
      "/auth/verify/redirect",
      "Like `/auth/verify`, but redirects a browser that opens a page, with 302 or 303 instead of 401.",
      [200, 302, 303],
      "redirect",
    ),
    endpoint(
      "/auth/verify/redirect/**",
      "Like `/auth/verify/redirect`, for Envoy, which sends the method, the `Host` and the path of the request, with `/auth/verify/redirect` before it. Other headers do not name the request here.",
      [200, 302, 303],
      "redirect",
      "/auth/verify/redirect",
    ),
  ];
}

type QuestionFault = "original_request_unclear" | "original_url_own" | "original_url_unknown";

const URL_UNKNOWN = {
  event: "original_url_unknown",
  found: "a login cannot lead back to the page that a proxy asks about, which it does not name",
  remedy: "set TRUSTED_PROXIES, and let the proxy send X-Original-URL, or X-Forwarded-Proto, -Host and -Uri",
} as const;

const URL_OWN = {
  event: "original_url_own",
  found: "a proxy asks about authserve itself",
  remedy: "let it ask its address and port, not PUBLIC_URL, and let PUBLIC_URL pass without a login",
} as const;

/** Tells a kind of fault in what proxies ask. */
type TellQuestionFault = (
  fault: Fault & { event: QuestionFault },
  by: Pick<RequestContext, "requestId" | "address">,
) => void;

/** Creates what tells faults in the log and to `onQuestionFault`, once of each kind. */
function createTellQuestionFault({ log, onQuestionFault }: VerifyParts): TellQuestionFault {
  const told = new Set<QuestionFault>();
  return ({ event, ...fault }, { requestId, address }) => {
    if (told.has(event)) return;
    told.add(event);
    log.warn({ event, requestId, address }, faultText(fault));
    onQuestionFault(fault);
  };
}

/**
 * Answers a proxy that asks whether a request may pass: 200 with the user, else 401. A browser that opens a page is
 * sent to the login page, or to the renewal of its session when little of it is left. For other requests the answer
 * then has the renewed cookie. A token of a program needs a scope for the host. The entries of `access` say what a
 * request needs. With `endpointPath`, the question itself names the request.
 */
function verifyHandler(
  parts: VerifyParts & { tellFault: TellQuestionFault },
  style: RedirectStyle,
  endpointPath?: string,
): RequestHandler {
  const { authenticate, machineTokens, people, sessions, lifetimes, publicUrl, trustedProxies } = parts;
  const { tellFault, now } = parts;
  const nobody = () => identity(NO_PERSON, people);

  function sendTo(path: "/login" | "/login/bound" | "/login/renew", { url, method }: OriginalRequest): Reply {
    const location = withRd(publicUrl + path, url && shortTarget(url));
    const isRead = method === "GET" || method === "HEAD";
    const status = style === "unauthorized" ? 401 : isRead ? 302 : 303;
    const headers = { ...nobody(), Location: location, "Content-Type": "text/plain" };
    return { status, body: "", headers: status === 401 ? { ...headers, "WWW-Authenticate": "Bearer" } : headers };
  }

  const renew = createRenew(parts);

  /** Tells why a login cannot lead back to a page. */
  function reportUrl(context: RequestContext, url: string | null): void {
    if (url === null) tellFault(URL_UNKNOWN, context);
    else if (url.startsWith(`${publicUrl}/`)) tellFault(URL_OWN, context);
  }

  /** Reads what the proxy asks about. */
  function readRequest<T>(context: RequestContext, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof UnclearQuestion) tellFault({ event: "original_request_unclear", ...error.fault }, context);
      throw error;
    }
  }

  /** Refuses a request. A browser that opens a page is sent to the login, and a program gets the error. */
  function refuse(context: RequestContext, error: AppError, { needed, original }: Question): Reply {
    const { request, requestId } = context;
    const isPage = isOfPage(request, original);
    const isUnbound = error.code === "session_not_bound";
    if (needed.session && (error.status === 401 || isUnbound) && forwardedToken(request) === null && isPage) {
      reportUrl(context, original.url);
      return sendTo(isUnbound ? "/login/bound" : "/login", original);
    }
    const { headers, ...refusal } = problem(error, requestId);
    const challenge = error.status === 401 && needed.token && isPlainProgram(request, original) ? BASIC_CHALLENGE : {};
    return { ...refusal, headers: { ...headers, ...challenge, ...nobody() } };
  }

  /** The answer for a program with a genuine token. */
  function passProgram({ name, scopes }: TokenRecord, { host, needed }: Question): Reply {
    if (!mayVerify(scopes, host)) throw insufficientScope("verify");
    const person = personOfToken(people.list(), name);
    if (person === null) throw wrongToken();
    if (!needed.isOpen && !isAllowed(needed.allow, "token", person)) throw new AppError("access_denied");
    return passed(identity(person, people, name));
  }

  /** The answer for a live session. On a page that needs one, it may lead over the renewal. */
  async function passSession({ request }: RequestContext, question: Question, asker: Asker): Promise<Reply> {
    const { claims, person, isBound, isByCookie } = await authenticateRequest(request, parts, authenticate);
    const { original, needed } = question;
    asker.user = claims.sub;
    asker.isBound = isBound;
    if (!needed.isOpen && !isAllowed(needed.allow, "session", person)) throw new AppError("access_denied");
    if (needed.boundSession && !isBound) throw new AppError("session_not_bound");
    const headers = identity(person, people);
    if (!isByCookie) return passed(headers);
    // A page with a longer address would lose its query on the way.
    const isPage = isNavigation(request) && original.url !== null && isShort(original.url) && original.method === "GET";
    const place = isPage && !needed.isOpen ? "page" : "answer";
    const at = now() / 1000;
    if (!(await isRenewalDue(claims, lifetimes, sessions, at, place))) return passed(headers);
    if (place === "page") return sendTo("/login/renew", original);
    const renewed = await renew(claims, at, "answer");
    return renewed === null ? passed(headers) : passed({ ...headers, "Set-Cookie": renewed });
  }

  /** The answer for who has what is needed. Throws the error for anybody else. `asker` gets who that is. */
  async function pass(context: RequestContext, question: Question, asker: Asker): Promise<Reply> {
    const { needed } = question;
    if (!needed.session && !needed.token) throw new AppError("access_denied");
    const token = await machineTokenOf(context, machineTokens, forwardedToken);
    asker.token = token?.name ?? null;
    if (token === null && needed.session) return passSession(context, question, asker);
    if (token !== null && needed.token) return passProgram(token, question);
    // A login opens nothing there: a browser would be led in circles.
    const isPage = isOfPage(context.request, question.original);
    throw token === null && !isPage ? missingToken() : new AppError("access_denied");
  }

  async function answer(context: RequestContext, question: Question): Promise<Answer> {
    const asker: Asker = { user: null, isBound: false, token: null };
    try {
      const reply = await pass(context, question, asker);
      return { reply, decision: "allowed", code: null, ...asker };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Whoever is not known, or cannot be looked up, is nobody there.
      if (question.needed.isOpen) return { reply: passed(nobody()), decision: "allowed", code: null, ...asker };
      if (error.code === "store_unavailable") throw error;
      const reply = refuse(context, error.code === "too_many_wrong_tokens" ? withStatus401(error) : error, question);
      const isDenied = error.status === 403 || forwardedToken(context.request) !== null;
      return { reply, decision: isDenied ? "denied" : "login", code: error.code, ...asker };
    }
  }

  return async (context) => {
    const original = readRequest(context, () =>
      endpointPath === undefined
        ? originalRequest(context.request, trustedProxies, parts.proxyFamily)
        : questionedRequest(context.request, trustedProxies, endpointPath),
    );
    const asked = accessRequest(context, original, trustedProxies);
    const judgement = readRequest(context, () => parts.access(asked));
    const host = asked.place?.host ?? null;
    const { reply, ...outcome } = await answer(context, { original, host, needed: neededFor(judgement) });
    parts.onAccess({ ...outcome, entry: judgement.entry, asked, address: context.address });
    // Where everyone passes, a token also passes that was not judged or lacks the scope. No app may get it.
    const credential = appToken(context.request) === null ? "" : "token";
    return { ...reply, headers: { ...reply.headers, "Remote-Credential": credential } };
  };
}

/** An answer, and what became of the request. */
interface Answer extends Asker, Pick<AccessOutcome, "decision" | "code"> {
  reply: Reply;
}

/** Who asks, as far as it is known. */
type Asker = Pick<AccessOutcome, "user" | "isBound" | "token">;

// Git, WebDAV and others send a password only when they are asked for one. Beside Bearer they would not: libcurl
// prefers it, also without a token.
const BASIC_CHALLENGE = { "WWW-Authenticate": 'Basic realm="authserve"' };

/** The methods of links, forms and images. Only scripts send others, and then they say so (Fetch, 5.4). */
const METHODS_OF_PAGES = ["GET", "HEAD", "POST"];

/** Whether a browser opens a page. KIO, of KDE, accepts HTML with every method of WebDAV. */
const isOfPage = (request: IncomingMessage, { method }: OriginalRequest) =>
  isNavigation(request) && METHODS_OF_PAGES.includes(method);

/** What browsers say they are. Programs that read feeds call themselves compatible. */
const BROWSER = /^Mozilla\/5\.0 \((?!compatible)/;

/** Whether a program that may know Basic only sent a request. A browser would ask for a password in its own box. */
function isPlainProgram(request: IncomingMessage, original: OriginalRequest): boolean {
  const { authorization = "", cookie, origin, "x-requested-with": script, "user-agent": agent = "" } = request.headers;
  const { "sec-fetch-mode": mode, "sec-fetch-site": site, [TOKEN_HEADER]: token } = request.headers;
  if (script !== undefined || token !== undefined || /^bearer/i.test(authorization) || isOfPage(request, original))
    return false;
  // Clients of WebDAV may keep the cookies of an app.
  const isWithoutCookie = cookie === undefined || /^basic /i.test(authorization);
  // Over plain HTTP, and before Safari 16.4, browsers do not tell the mode.
  const mayBeBrowser = BROWSER.test(agent) && METHODS_OF_PAGES.includes(original.method);
  if (mode === undefined) return origin === undefined && isWithoutCookie && !mayBeBrowser;
  // Thunderbird names the mode, and its own origin too. What a page sends in this mode is of a site.
  return mode === "no-cors" && (!METHODS_OF_PAGES.includes(original.method) || (site === "none" && isWithoutCookie));
}

/** What a proxy asks: about which request, for which host, and what it needs. */
interface Question {
  original: OriginalRequest;
  host: string | null;
  needed: Needed;
}

/** What a request needs: one of these, or nothing. */
interface Needed {
  isOpen: boolean;
  allow: readonly Allowed[];
  session: boolean;
  token: boolean;
  /** Whether a session is not enough that is not bound to its device. */
  boundSession: boolean;
}

function neededFor({ allow, isBound }: Judgement): Needed {
  const isOpen = allow === "everyone";
  const list = isOpen ? PASSES : allow;
  const [session, token] = [mayPassWith(list, "session"), mayPassWith(list, "token")];
  return { isOpen, allow: list, session, token, boundSession: isBound };
}

const passed = (headers: Record<string, string>): Reply => ({
  status: 200,
  body: "",
  headers: { "Content-Type": "text/plain", ...headers },
});

const withStatus401 = ({ code, retryAfterSeconds }: AppError) => new AppError(code, { status: 401, retryAfterSeconds });

/** What the entries of `access` compare. */
function accessRequest(
  { request, address }: RequestContext,
  { url, isOneHost, method, isMethodNamed }: OriginalRequest,
  trustedProxies: BlockList | undefined,
): AccessRequest {
  const { headers } = request;
  const isByProxy = isTrusted(peerAddress(request.socket), trustedProxies);
  const isNamed = isByProxy ? believed(headers, "x-forwarded-for") !== undefined : true;
  const isKnown = isNamed && !isFromUnknownClient(request, trustedProxies) && address !== UNKNOWN_CLIENT;
  return {
    place: url === null || !isOneHost ? null : placeOf(url),
    method: isMethodNamed ? method : null,
    address: isKnown ? address : null,
  };
}
