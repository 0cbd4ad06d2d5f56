import type { IncomingMessage } from "node:http";
import { readRawBody } from "../../http/body.ts";
import type { RequestHandler } from "../../http/endpoint.ts";
import type { Reply } from "../../http/problem.ts";
import { requireMediaType } from "../../lib/body-headers.ts";
import { headerValues } from "../../lib/header-value.ts";
import { claimsOf } from "../clients/claims.ts";
import type { Client } from "../clients/client.ts";
import { authenticateClient } from "../clients/client-authentication.ts";
import { readParameters, type SentParameters } from "../clients/parameters.ts";
import { type TokenError, tokenError } from "../clients/token-errors.ts";
import type { ClientParts } from "./client-authorization.ts";
import { FORM } from "./endpoints.ts";

const BODY_LIMIT = 32 * 1024;

/** Reads the body of a form as text. */
export async function readUrlEncoded(request: IncomingMessage): Promise<string> {
  requireMediaType(request, FORM);
  return (await readRawBody(request, BODY_LIMIT)).toString("utf8");
}

const CREDENTIALS = ["client_id", "client_secret"];
const TOKEN_PARAMETERS = [
  ...CREDENTIALS,
  ...["grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope"],
];

const refusal = ({ status, headers, body }: TokenError): Reply => ({
  status,
  body,
  headers: { ...headers, "Content-Type": "application/json" },
});

/** Reads the body of a client's request, and authenticates it. */
async function readClient(
  request: IncomingMessage,
  names: readonly string[],
  { clients }: ClientParts,
): Promise<{ client: Client; sent: SentParameters } | { reply: Reply }> {
  const sent = readParameters(await readUrlEncoded(request), names);
  const found = authenticateClient(headerValues(request.rawHeaders, "authorization"), sent, clients);
  return found.ok ? { client: found.client, sent } : { reply: refusal(found.error) };
}

/** Answers `POST /oauth/token`. */
export function tokenHandler(parts: ClientParts): RequestHandler {
  return async ({ request }) => {
    const read = await readClient(request, TOKEN_PARAMETERS, parts);
    if ("reply" in read) return read.reply;
    const { client, sent } = read;
    const type = sent.values.get("grant_type");
    if (type !== "authorization_code" && type !== "refresh_token") {
      const code = type === undefined ? "invalid_request" : "unsupported_grant_type";
      return refusal(tokenError(code, "expected grant_type authorization_code or refresh_token"));
    }
    const granted = await parts.grants[type === "refresh_token" ? "refresh" : "exchange"](client, sent.values);
    return granted.ok ? { status: 200, body: granted.answer } : refusal(granted.error);
  };
}

/** Answers a request of a client about a token. */
export function tokenValueHandler(
  parts: ClientParts,
  answer: (client: Client, token: string) => Promise<Record<string, unknown>>,
): RequestHandler {
  return async ({ request }) => {
    const read = await readClient(request, [...CREDENTIALS, "token", "token_type_hint"], parts);
    if ("reply" in read) return read.reply;
    const token = read.sent.values.get("token");
    if (token === undefined) return refusal(tokenError("invalid_request", "token is missing"));
    return { status: 200, body: await answer(read.client, token) };
  };
}

/** Answers `/oauth/userinfo`. */
export function userInfoHandler(parts: ClientParts): RequestHandler {
  const { grants, clients } = parts;
  return async ({ request }) => {
    const value = await bearerOf(request);
    const found = value === null ? null : await grants.accessToken(value, clients);
    if (found === null) {
      const error = value === null ? "" : ', error="invalid_token"';
      const headers = { "WWW-Authenticate": `Bearer realm="authserve"${error}`, "Content-Type": "application/json" };
      return { status: 401, body: { error: "invalid_token" }, headers };
    }
    return { status: 200, body: claimsOf(found.person, found.client, found.token.scope) };
  };
}

/** The access token of a request: in its header, or in the body of a form; null unless there is exactly one. */
async function bearerOf(request: IncomingMessage): Promise<string | null> {
  const headers = headerValues(request.rawHeaders, "authorization");
  const isForm = request.method === "POST" && request.headers["content-type"] !== undefined;
  const inBody = isForm
    ? readParameters(await readUrlEncoded(request), ["access_token"]).values.get("access_token")
    : undefined;
  const inHeader = headers.length === 1 ? /^bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(headers[0] ?? "")?.[1] : undefined;
  if (headers.length > 1 || (inBody !== undefined && headers.length > 0)) return null;
  return inHeader ?? inBody ?? null;
}
