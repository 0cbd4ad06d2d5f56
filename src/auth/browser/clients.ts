import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { AppError } from "../../errors.ts";
import type { Endpoint, RequestHandler } from "../../http/endpoint.ts";
import { clientSid } from "../clients/claims.ts";
import { SCOPES } from "../clients/client.ts";
import { KEYS_MAX_AGE_SECONDS } from "../clients/key-rotation.ts";
import { answerUrl } from "../clients/redirects.ts";
import { canonicalEmail } from "../user.ts";
import { AUTHORIZE, authorizeHandler, type ClientParts, consentHandler, judge } from "./client-authorization.ts";
import { readUrlEncoded, tokenHandler, tokenValueHandler, userInfoHandler } from "./client-tokens.ts";
import { FORM, FORM_PROBLEMS, HTML, PAGE } from "./endpoints.ts";
import { redirect } from "./html.ts";
import { prefixOf, queryOf, sessionOf } from "./visit.ts";

const LOGOUT = "/oauth/logout";

const JSON_OBJECT = v.record(v.string(), v.unknown());

/** The endpoints of apps that log in through this service, by OpenID Connect. There are none without clients. */
export function clientEndpoints(parts: ClientParts): Endpoint[] {
  if (parts.clients.length === 0) return [];
  const program = { audience: "senders" as const, response: JSON_OBJECT, problems: ["store_unavailable" as const] };
  const posted = {
    ...program,
    method: "POST" as const,
    request: JSON_OBJECT,
    requestTypes: FORM,
    statuses: [200, 400, 401],
  };
  const userinfo = { ...program, statuses: [200, 401], handler: userInfoHandler(parts) };
  return [
    {
      method: "GET",
      path: AUTHORIZE,
      summary: "Leads a browser from an app to the login, and back to the app with a code (OpenID Connect).",
      ...PAGE,
      statuses: [200, 303, 400],
      mediaTypes: { 200: HTML, 400: HTML },
      handler: authorizeHandler(parts),
    },
    {
      method: "POST",
      path: AUTHORIZE,
      summary: "Leads a browser to `GET /oauth/authorize` with the same parameters.",
      response: v.string(),
      statuses: [303, 400],
      mediaTypes: { 400: HTML },
      problems: ["payload_too_large", "unsupported_media_type"],
      async handler(context) {
        const text = await readUrlEncoded(context.request);
        const judged = judge(text, context, parts);
        return "reply" in judged ? judged.reply : redirect(asGet(AUTHORIZE, text, context.request, parts));
      },
    },
    {
      method: "POST",
      path: "/oauth/consent",
      summary: "Takes the answer to the question whether to log in to an app.",
      request: v.object({ request: v.string(), answer: v.picklist(["allow", "deny"]) }),
      requestTypes: FORM,
      ...PAGE,
      statuses: [200, 303, 400],
      mediaTypes: { 200: HTML, 400: HTML },
      problems: [...FORM_PROBLEMS, "store_unavailable"],
      handler: consentHandler(parts),
    },
    {
      ...posted,
      path: "/oauth/token",
      summary: "Exchanges a code or a refresh token for tokens (RFC 6749).",
      problems: ["store_unavailable", "signing_key_unreadable"],
      handler: tokenHandler(parts),
    },
    {
      ...posted,
      path: "/oauth/revoke",
      summary: "Ends a token of a client, with all that came from its code (RFC 7009).",
      handler: tokenValueHandler(parts, async (client, token) => {
        await parts.grants.revoke(client, token);
        return {};
      }),
    },
    {
      ...posted,
      path: "/oauth/introspect",
      summary: "Tells a client whether a token of its own may be used (RFC 7662).",
      handler: tokenValueHandler(parts, (client, token) => parts.grants.introspect(client, token)),
    },
    { ...userinfo, method: "GET", path: "/oauth/userinfo", summary: "Tells an app about the user." },
    {
      ...userinfo,
      method: "POST",
      path: "/oauth/userinfo",
      summary: "Tells an app about the user. The token may be in the body.",
      request: JSON_OBJECT,
      requestTypes: FORM,
    },
    {
      method: "GET",
      path: LOGOUT,
      summary:
        "Ends the session that `id_token_hint` names, and leads to `post_logout_redirect_uri` if the client has it. Otherwise it leads to the page with the button.",
      ...PAGE,
      handler: logoutHandler(parts),
    },
    {
      method: "POST",
      path: LOGOUT,
      summary: "Leads a browser to `GET /oauth/logout` with the same parameters.",
      response: v.string(),
      statuses: [303],
      problems: ["payload_too_large", "unsupported_media_type"],
      handler: async ({ request }) => redirect(asGet(LOGOUT, await readUrlEncoded(request), request, parts)),
    },
    {
      ...program,
      method: "GET",
      path: "/oauth/jwks",
      summary: "Lists the public keys of ID tokens and logout tokens.",
      problems: ["store_unavailable", "signing_key_unreadable"],
      quiet: true,
      async handler() {
        const headers = { "Cache-Control": `public, max-age=${KEYS_MAX_AGE_SECONDS}` };
        return { status: 200, body: { keys: await parts.keys.published() }, headers };
      },
    },
    ...["openid-configuration", "oauth-authorization-server"].map((name) => ({
      ...program,
      method: "GET" as const,
      path: `/.well-known/${name}`,
      summary: "Describes this provider (OpenID Connect Discovery, RFC 8414).",
      problems: [],
      quiet: true,
      handler: () => ({ status: 200, body: discoveryOf(parts) }),
    })),
    {
      ...program,
      method: "GET",
      path: "/.well-known/webfinger",
      summary: "Names this provider to an app that has the user's e-mail (RFC 7033).",
      problems: ["not_found"],
      quiet: true,
      handler: webfingerHandler(parts),
    },
  ];
}

/** The address with what a form sent as its query. A browser may write in a form what no address can have. */
function asGet(path: string, form: string, request: IncomingMessage, { browser }: ClientParts): string {
  return `${prefixOf(request, browser)}${path}?${form.replace(/[^\x21-\x7e]|#/gu, encodeURIComponent)}`;
}

/** Answers `GET /oauth/logout` (OpenID Connect RP-Initiated Logout 1.0). Without a hint a person is asked first. */
function logoutHandler(parts: ClientParts): RequestHandler {
  const { browser, keys, issuer, clients } = parts;
  return async ({ request, requestId, address }) => {
    const query = queryOf(request);
    const { claims } = await sessionOf(request, browser);
    const hint = query.get("id_token_hint");
    const named = hint === null ? null : await keys.verify(hint, issuer);
    const client = clients.find(({ name }) => name === (named?.aud ?? query.get("client_id")));
    const after = client?.logout.after.find((one) => one === query.get("post_logout_redirect_uri")) ?? null;
    const target = after === null ? null : answerUrl(after, { state: query.get("state") });
    const isOfHint = claims !== null && client !== undefined && named?.sid === clientSid(claims.sid, client.name);
    if (isOfHint && (await browser.sessions.removeIf(claims.sub, claims.sid)))
      browser.log.info({ event: "session_ended", requestId, address, userId: claims.sub }, "logged out by an app");
    const clear = isOfHint ? { "Set-Cookie": browser.cookie.clear() } : {};
    if (target !== null && (claims === null || isOfHint)) return redirect(target, clear);
    return redirect(`${prefixOf(request, browser)}/${claims === null || isOfHint ? "login" : "logout"}`, clear);
  };
}

function discoveryOf({ issuer, clients }: ClientParts): Record<string, unknown> {
  const at = (path: string) => `${issuer}/oauth/${path}`;
  const methods = ["client_secret_basic", "client_secret_post"];
  const hasPublic = clients.some(({ secret }) => secret === null);
  return {
    issuer,
    authorization_endpoint: at("authorize"),
    token_endpoint: at("token"),
    userinfo_endpoint: at("userinfo"),
    jwks_uri: at("jwks"),
    revocation_endpoint: at("revoke"),
    introspection_endpoint: at("introspect"),
    end_session_endpoint: at("logout"),
    scopes_supported: SCOPES,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(["RS256", ...clients.map(({ algorithm }) => algorithm)])],
    token_endpoint_auth_methods_supported: hasPublic ? [...methods, "none"] : methods,
    code_challenge_methods_supported: ["S256"],
    claims_supported: [
      ...["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "amr", "sid"],
      ...["email", "email_verified", "name", "preferred_username", "groups"],
    ],
    prompt_values_supported: ["none", "login", "consent", "select_account"],
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

const ISSUER_RELATION = "http://openid.net/specs/connect/1.0/issuer";

const domainOf = (account: string) => account.slice(account.lastIndexOf("@"));

function webfingerHandler({ browser: { people }, issuer }: ClientParts): RequestHandler {
  return ({ request }) => {
    const resource = queryOf(request).get("resource") ?? "";
    const asked = canonicalEmail(resource);
    const known = people.list().map(({ email }) => `acct:${canonicalEmail(email)}`);
    // With several people it must not tell who exists.
    const isAsked = (one: string) => one === asked || (people.areNamed() && domainOf(one) === domainOf(asked));
    if (!known.some(isAsked)) throw new AppError("not_found");
    const links = [{ rel: ISSUER_RELATION, href: issuer }];
    return { status: 200, body: { subject: resource, links }, headers: { "Content-Type": "application/jrd+json" } };
  };
}
