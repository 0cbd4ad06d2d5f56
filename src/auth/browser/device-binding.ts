import * as v from "valibot";
import { AppError, type ErrorCode } from "../../errors.ts";
import { type Endpoint, type RequestContext, type RequestHandler, reply } from "../../http/endpoint.ts";
import type { Reply } from "../../http/problem.ts";
import type { SessionDevice } from "../sessions.ts";
import type { AccessClaims } from "../token.ts";
import type { EndSessionParts } from "./end-session.ts";
import { AGAIN, PAGE } from "./endpoints.ts";
import { authenticateCookie } from "./guard.ts";
import { redirect } from "./html.ts";
import { unboundPage } from "./pages.ts";
import type { RedirectRules } from "./redirect-target.ts";
import { textsFor } from "./texts.ts";
import { type DeviceParts, prefixOf, queryOf, REGISTER_PATH, sessionOf, targetOf, toLogin } from "./visit.ts";

const REFRESH_PATH = "/auth/bound/refresh";

/** What a browser is told about a session (Device Bound Session Credentials, 9.6). */
const Instructions = v.object({
  session_identifier: v.string(),
  refresh_url: v.optional(v.string()),
  continue: v.optional(v.literal(false)),
  scope: v.optional(v.object({ origin: v.string(), include_site: v.boolean() })),
  credentials: v.optional(v.array(v.object({ type: v.literal("cookie"), name: v.string(), attributes: v.string() }))),
  allowed_refresh_initiators: v.optional(v.array(v.string())),
});

const REGISTER_PROBLEMS: ErrorCode[] = [
  "missing_token",
  "invalid_token",
  "session_invalidated",
  "device_not_proved",
  "invalid_device_proof",
  "store_unavailable",
];

/** The endpoints by which browsers bind sessions to their devices. People only see the last one. */
export function deviceEndpoints(parts: EndSessionParts, device: DeviceParts): Endpoint[] {
  return [
    {
      method: "POST",
      path: REGISTER_PATH,
      summary:
        "Registers the key of a device for the session of the cookie. A browser with Device Bound Session Credentials sends it after a login, with `Secure-Session-Response`.",
      response: Instructions,
      problems: REGISTER_PROBLEMS,
      handler: registerHandler(parts, device),
      quiet: true,
    },
    {
      method: "POST",
      path: REFRESH_PATH,
      summary:
        "Sets the cookie that proves the device of the session in `Sec-Secure-Session-Id`. It needs an answer to a challenge, or returns a new one in `Secure-Session-Challenge`. Once the session has ended, `continue` is false.",
      response: Instructions,
      problems: ["invalid_device_proof", "store_unavailable"],
      handler: refreshHandler(parts, device),
      quiet: true,
    },
    {
      method: "GET",
      path: "/.well-known/device-bound-sessions",
      audience: "senders",
      summary:
        "Names the origin of this service, for browsers that bind a session to all hosts of `COOKIE_DOMAIN`. A proxy serves it at that domain.",
      response: v.object({ registering_origins: v.array(v.string()) }),
      handler: () => reply(200, { registering_origins: [parts.rules.origin] }),
      quiet: true,
    },
  ];
}

/** The page for a session that is not bound, where an entry of `access` asks for one that is. */
export function unboundEndpoint(parts: EndSessionParts): Endpoint {
  return {
    method: "GET",
    path: "/login/bound",
    summary:
      "Redirects to `rd` once the session is bound to its device, or tells that it is not. `/auth/verify` sends browsers here that need it.",
    query: v.object({ rd: v.optional(v.string()) }),
    ...PAGE,
    handler: unboundHandler(parts),
    quiet: true,
  };
}

/** The text in a header that is a string of a structured field (RFC 9651). */
function textIn({ request }: RequestContext, header: string): string | null {
  return /^"?([A-Za-z0-9_.-]+)"?$/.exec(String(request.headers[header] ?? ""))?.[1] ?? null;
}

const answerIn = (context: RequestContext) => textIn(context, "secure-session-response");

function refuse(reason: string, { requestId, address }: RequestContext, { log }: EndSessionParts, device: DeviceParts) {
  device.onProof("refused");
  log.warn({ event: "device_refused", requestId, address, reason }, `a device was refused: ${reason}`);
}

/** Answers `POST /auth/bound/register`. The session is not bound yet: the browser may drop what it has begun. */
function registerHandler(parts: EndSessionParts, device: DeviceParts): RequestHandler {
  const { authenticate, sessions } = parts;
  return async (context) => {
    const { claims } = await authenticateCookie(context.request, parts, authenticate);
    const read = await device.binding.readKey(claims.sid, answerIn(context) ?? "");
    const isKept = "publicKey" in read && (await sessions.registerDevice(claims.sub, claims.sid, read.publicKey));
    if (!isKept) {
      refuse("fault" in read ? read.fault : "the session has a key, or has ended", context, parts, device);
      throw new AppError("invalid_device_proof");
    }
    device.onProof("registered");
    // Without the cookie, the browser proves the device at its next request.
    return reply(200, instructionsFor(claims.sid, parts.rules, device));
  };
}

/** Answers `POST /auth/bound/refresh`. The session cookie is not needed, and missing after a link of another site. */
function refreshHandler(parts: EndSessionParts, device: DeviceParts): RequestHandler {
  const { sessions, people, rules, log } = parts;

  /** The live session with a device that has this id, and its user. */
  async function findSession(sid: string | null) {
    for (const { id: userId } of people.list()) {
      const record = await sessions.find(userId);
      if (record !== null && record.sid === sid && record.device !== null) return { userId, device: record.device };
    }
    return null;
  }

  /** What is wrong with an answer; null if the session is proved. */
  async function faultOf(userId: string, sid: string, known: SessionDevice, answer: string): Promise<string | null> {
    const { binding } = device;
    const read = await binding.readAnswer(sid, known, answer);
    if ("fault" in read) return read.fault;
    const isProved = await sessions.proveDevice(userId, sid, read.challengedAt, binding.boundFrom());
    return isProved ? null : "another answer was faster, or the session has ended";
  }

  return async (context) => {
    const { requestId, address } = context;
    const { binding, proofCookie, unprovedCookie, onProof } = device;
    const sid = textIn(context, "sec-secure-session-id");
    const found = await findSession(sid);
    if (found === null || sid === null) {
      onProof("ended");
      return reply(200, { session_identifier: sid ?? "", continue: false });
    }
    const { userId, device: known } = found;
    const answer = answerIn(context);
    const fault = answer === null ? null : await faultOf(userId, sid, known, answer);
    if (fault !== null) refuse(fault, context, parts, device);
    if (answer === null || fault !== null) {
      const challenge = `"${binding.challenge(sid, known)}";id="${sid}"`;
      throw new AppError("invalid_device_proof", { headers: { "Secure-Session-Challenge": challenge } });
    }
    onProof("proved");
    if (known.boundFrom === null)
      log.info({ event: "session_bound", requestId, address, userId }, "the session is bound to its device");
    const cookies = [proofCookie.set(binding.proof(sid), binding.cookieSeconds), unprovedCookie.clear()];
    return { ...reply(200, instructionsFor(sid, rules, device)), headers: { "Set-Cookie": cookies } };
  };
}

function instructionsFor(
  sid: string,
  { origin, base, cookieDomain }: RedirectRules,
  { proofCookie: { name, attributes } }: DeviceParts,
): v.InferOutput<typeof Instructions> {
  const { port } = new URL(origin);
  const site = cookieDomain === undefined ? origin : `https://${cookieDomain}${port === "" ? "" : `:${port}`}`;
  return {
    session_identifier: sid,
    refresh_url: `${origin}${base}${REFRESH_PATH}`,
    scope: { origin: site, include_site: cookieDomain !== undefined },
    credentials: [{ type: "cookie", name, attributes }],
    // Otherwise a link of another site leads to the login page. Its other requests have no cookie that needs a refresh.
    allowed_refresh_initiators: ["*"],
  };
}

/** A browser registers its device beside the first page after a login. */
const BINDING_MS = 10_000;

function unboundHandler(parts: EndSessionParts): RequestHandler {
  const mayBeBinding = ({ iat = 0 }: AccessClaims) => iat * 1000 > parts.now() - BINDING_MS;
  return async (context): Promise<Reply> => {
    const { request } = context;
    const rd = queryOf(request).get("rd");
    const { claims, isBound } = await sessionOf(request, parts);
    if (claims === null) return toLogin(request, parts, rd);
    const { url } = targetOf(rd, context, parts);
    if (isBound) return redirect(url);
    const { device } = parts;
    const isWaiting = device !== null && device.unprovedCookie.read(request).length === 0 && mayBeBinding(claims);
    const loginUrl = `${prefixOf(request, parts)}/login?${new URLSearchParams({ [AGAIN]: "app", rd: url })}`;
    return unboundPage(textsFor(request.headers["accept-language"]), loginUrl, isWaiting);
  };
}
