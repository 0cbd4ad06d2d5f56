import type { BlockList } from "node:net";
import * as v from "valibot";
import { AppError, type ErrorCode } from "../../errors.ts";
import { readRawBody, requireMediaType } from "../../http/body.ts";
import type { Endpoint, RequestContext, RequestHandler } from "../../http/endpoint.ts";
import { removedPrefix, sentOrigin, sentTarget } from "../../http/proxies.ts";
import type { Log } from "../../log.ts";
import { type Content, FORM, openContent } from "../intake/content.ts";
import type { Kept } from "../secrets/received-secrets.ts";
import { headersOf } from "../signature/schemes.ts";
import { createVerifier } from "../signature/signature.ts";
import { queryOf, type SignedRequest } from "../signature/signed-text.ts";
import { type Handshake, pathsOf, type Secret, type Source } from "../source.ts";
import type { Answer } from "./answer.ts";
import { DELIVERY_ANSWERS } from "./deliveries.ts";
import { type HandshakeKind, signsRequests } from "./kind.ts";
import { type AnswerRequest, type ChallengeRequest, GET_ANSWERS, HEAD_ANSWERS, OPTIONS_ANSWERS } from "./requests.ts";
import { VALIDATIONS, type Validation } from "./validations.ts";

/** What the endpoints of handshakes use. */
export interface HandshakeParts {
  log: Log;
  trustedProxies: BlockList | undefined;
  /** Keeps the secret that a handshake brought until it is shown, if the source waits for one. */
  keepSecret(source: Source, secret: { value: string; address: string }): Promise<Kept>;
}

const PROBLEMS: ErrorCode[] = ["validation_failed", "address_not_allowed", "intake_paused"];

/** The queries of GET, by kind. */
const QUERIES: Partial<Record<HandshakeKind, v.GenericSchema>> = {
  adobe: v.object({ challenge: v.string() }),
  braintree: v.object({ bt_challenge: v.string() }),
  dropbox: v.object({ challenge: v.string() }),
  ebay: v.object({ challenge_code: v.string() }),
  hub: v.object({ "hub.mode": v.string(), "hub.challenge": v.string(), "hub.verify_token": v.optional(v.string()) }),
  linkedin: v.object({ challengeCode: v.string() }),
  meta: v.object({ "hub.mode": v.string(), "hub.verify_token": v.string(), "hub.challenge": v.string() }),
  nylas: v.object({ challenge: v.string() }),
  onfleet: v.object({ check: v.string() }),
  x: v.object({ crc_token: v.string() }),
};

/** The bodies of responses that are JSON, by kind. */
const ANSWERS: Partial<Record<HandshakeKind, v.GenericSchema>> = {
  airship: v.object({ confirmation_code: v.string() }),
  discord: v.object({ type: v.literal(1) }),
  ebay: v.object({ challengeResponse: v.string() }),
  event_grid: v.object({ validationResponse: v.string() }),
  linkedin: v.object({ challengeCode: v.string(), challengeResponse: v.string() }),
  monday: v.object({ challenge: v.string() }),
  okta: v.object({ verification: v.string() }),
  x: v.object({ response_token: v.string() }),
  zoom: v.object({ plainToken: v.string(), encryptedToken: v.string() }),
};

/** The endpoints of a source for handshakes that are no deliveries: GET, HEAD or OPTIONS, if its provider uses them. */
export function handshakeEndpoints(source: Source, parts: HandshakeParts): Endpoint[] {
  const { handshake } = source;
  if (!handshake) return [];
  const { kind } = handshake;
  const requireSigned = signsRequests(kind) ? signatureOf(source, parts) : () => {};
  const query = QUERIES[kind] ?? namedQuery(handshake);
  /** The endpoint of a method, if the kind uses it. */
  const endpointOf = (
    answer: AnswerRequest | undefined,
    endpoint: Pick<Endpoint, "method" | "summary"> & Partial<Endpoint>,
  ): Endpoint[] =>
    answer === undefined
      ? []
      : [
          {
            path: pathsOf(source).check,
            response: v.string(),
            problems: PROBLEMS,
            handler: (context) => {
              requireSigned(context);
              return logged(source, context, parts, answer(challengeOf(source, context, parts), source));
            },
            quiet: true,
            ...endpoint,
          },
        ];
  return [
    ...endpointOf(GET_ANSWERS[kind], {
      method: "GET",
      summary: "Answers the handshake of the provider, if the source has `handshake`.",
      ...(query && { query }),
      response: answerSchema(handshake) ?? v.string(),
      ...(kind === "match-query" && { statuses: [204] }),
      problems: [...PROBLEMS, ...refusalsOf(handshake)],
    }),
    ...endpointOf(HEAD_ANSWERS[kind], {
      method: "HEAD",
      summary: "Tells the provider that the URL is right, if the source has `handshake`.",
    }),
    ...endpointOf(OPTIONS_ANSWERS[kind], {
      method: "OPTIONS",
      summary: "Consents to deliveries, if the source has `handshake`.",
    }),
  ];
}

/** How a GET is refused whose token, code or signature is wrong. */
function refusalsOf({ kind, token }: Handshake): ErrorCode[] {
  if (kind === "match-query") return ["not_found"];
  const canMismatch = kind === "meta" || (kind === "hub" && token !== undefined) || signsRequests(kind);
  return canMismatch ? ["signature_mismatch"] : [];
}

/**
 * Refuses a request without a right signature, of a provider that signs its check of the URL as it signs a delivery.
 */
function signatureOf(source: Source, { trustedProxies }: HandshakeParts): (context: RequestContext) => void {
  const verifier = createVerifier(source);
  return ({ request }) => {
    const { headers, method = "" } = request;
    const read = verifier.read(headers, Date.now());
    const sent = {
      method,
      origin: sentOrigin(request, trustedProxies, source.publicOrigin),
      target: sentTarget(request, trustedProxies),
      headers,
      content: openContent(Buffer.alloc(0), ""),
    };
    const found = "reason" in read ? read.reason : verifier.verify(sent, read.candidates);
    if (typeof found === "string") throw new AppError("signature_mismatch", { reason: found });
  };
}

/** The kinds that answer a POST with text. */
const IN_TEXT: readonly HandshakeKind[] = [
  ...(Object.keys(VALIDATIONS) as HandshakeKind[]),
  "discord",
  "front",
  "mandrill",
  "slack",
  "twitch",
];

/** The body of a response that is JSON. */
function answerSchema({ kind, name = "", as }: Handshake): v.GenericSchema | undefined {
  if (kind === "echo-json") return v.object({ [as ?? name]: v.union([v.string(), v.number()]) });
  const isJson = as !== undefined && (kind === "echo-query" || kind === "hub");
  return isJson ? v.object({ [as]: v.string() }) : ANSWERS[kind];
}

function namedQuery({ kind, name = "" }: Handshake): v.GenericSchema | undefined {
  return kind === "echo-query" || kind === "match-query" ? v.object({ [name]: v.string() }) : undefined;
}

/** What a handshake changes in the description of a source's deliveries. `usual` is that of other sources. */
export function describeHandshake(
  { handshake, contentTypes }: Source,
  usual: { response: v.GenericSchema; problems: ErrorCode[] },
): Partial<Endpoint> {
  if (!handshake) return {};
  const { kind } = handshake;
  const other = DELIVERY_ANSWERS[kind] && answerSchema(handshake);
  return {
    ...(other && { response: v.union([usual.response, other]) }),
    ...(kind === "discord" && { statuses: [200, 204] }),
    ...(kind === "ms_graph" && { query: v.object({ validationToken: v.optional(v.string()) }) }),
    ...(VALIDATIONS[kind] && { problems: [...usual.problems, "validation_failed"] }),
    ...(kind === "woocommerce" && { requestTypes: [...new Set([...contentTypes, FORM])] }),
    ...(IN_TEXT.includes(kind) && { otherType: "text/plain" }),
  };
}

/** The answer to a POST without a signature that asks for a handshake, before any check but that of the address. */
interface ValidationEndpoint {
  /** Whether a request asks for it. Others are deliveries. */
  asks(context: RequestContext): boolean;
  handler: RequestHandler;
}

/** Undefined for kinds without such a request. */
export function validationOf(source: Source, parts: HandshakeParts): ValidationEndpoint | undefined {
  const { handshake } = source;
  const validation = handshake && VALIDATIONS[handshake.kind];
  if (!validation) return undefined;
  const signatures = source.schemes.flatMap(headersOf);
  return {
    asks({ request: { headers, url = "" } }) {
      if (validation.body && Number(headers["content-length"]) > MAX_UNSIGNED_BYTES) return false;
      const isUnsigned = signatures.every((name) => headers[name] === undefined);
      return isUnsigned && validation.asks({ query: queryOf(url), headers }, handshake);
    },
    async handler(context) {
      const content = await requireBody(validation, source, context);
      const challenge = challengeOf(source, context, parts);
      const answer = validation.answer(challenge, handshake);
      if (validation.secret) await keep(source, context, parts, validation.secret(challenge, content));
      return logged(source, context, parts, answer);
    },
  };
}

// monday's challenge has about 100 bytes.
const MAX_UNSIGNED_BYTES = 1024;

/** Keeps the secret of a handshake, and says in the log how to see it. */
async function keep(
  source: Source,
  { requestId, address }: RequestContext,
  { log, keepSecret }: HandshakeParts,
  value: string,
): Promise<void> {
  const reason = await keepSecret(source, { value, address });
  const about = { source: source.name, requestId, address };
  if (reason === "known") return;
  if (reason === "kept") {
    const text = "received a secret, store it: `authserve sources list` shows it once";
    log.warn({ event: "handshake_secret_received", ...about }, text);
  } else
    log.warn({ event: "handshake_secret_ignored", ...about, reason }, "a handshake brought a secret that was not kept");
}

/** Refuses a request with another body than that of the validation as the delivery that it then is. */
async function requireBody(
  { body }: Validation,
  { contentTypes, refusedStatus }: Source,
  { request, address }: RequestContext,
): Promise<Content | null> {
  if (!body) return null;
  const mediaType = requireMediaType(request, [body.type]);
  const content = openContent(await readRawBody(request, MAX_UNSIGNED_BYTES, address), mediaType);
  if (body.isRight(content)) return content;
  requireMediaType(request, contentTypes);
  throw new AppError("signature_mismatch", { reason: "no_signature", status: refusedStatus });
}

/**
 * Answers a genuine delivery if it is a handshake. `secretName` is the secret that verified it. Undefined for sources
 * that have no handshake in deliveries.
 */
export function deliveryAnswerOf(source: Source, parts: HandshakeParts) {
  const { handshake } = source;
  const answerDelivery = handshake && DELIVERY_ANSWERS[handshake.kind];
  if (!answerDelivery) return undefined;
  return (context: RequestContext, content: Content, secretName?: string): Answer | null => {
    const secret = source.secrets.find(({ name }) => name === secretName)?.value ?? "";
    const answer = answerDelivery(content, secret, context.request.headers, handshake);
    return answer && logged(source, context, parts, answer);
  };
}

function isAnsweredUnsigned(kind: HandshakeKind | undefined): boolean {
  return kind === "monday" || kind === "echo-json";
}

/**
 * Answers a delivery without a signature if it is a handshake, as monday sends it. Undefined for kinds whose handshake
 * is signed. The answer is null for any other delivery. The body is read unless it is known.
 */
export function unsignedAnswerOf(source: Source, parts: HandshakeParts) {
  const answer = isAnsweredUnsigned(source.handshake?.kind) ? deliveryAnswerOf(source, parts) : undefined;
  if (!answer) return undefined;
  return async (context: RequestContext, mediaType: string, known?: Content): Promise<Answer | null> => {
    if (known) return known.bytes.length > MAX_UNSIGNED_BYTES ? null : answer(context, known);
    const { request, address } = context;
    if (Number(request.headers["content-length"]) > MAX_UNSIGNED_BYTES) return null;
    return answer(context, openContent(await readRawBody(request, MAX_UNSIGNED_BYTES, address), mediaType));
  };
}

// Mandrill has no key for a URL that it checks.
const TEST_KEY: Secret = { name: "test-webhook", value: "test-webhook", mark: "" };

/**
 * Answers Mandrill's check, a delivery without events that is signed with a key that everybody knows. Undefined for
 * other kinds. The answer is null for any other delivery.
 */
export function testAnswerOf(source: Source, parts: HandshakeParts) {
  const answer = source.handshake?.kind === "mandrill" ? deliveryAnswerOf(source, parts) : undefined;
  if (!answer) return undefined;
  const verifier = createVerifier({ ...source, secrets: [TEST_KEY] });
  return (context: RequestContext, request: SignedRequest): Answer | null => {
    const read = verifier.read(request.headers, Date.now());
    const isTest = "candidates" in read && typeof verifier.verify(request, read.candidates) === "object";
    return isTest ? answer(context, request.content) : null;
  };
}

function challengeOf(
  source: Source,
  { request }: RequestContext,
  { trustedProxies }: HandshakeParts,
): ChallengeRequest {
  const origin = sentOrigin(request, trustedProxies, source.publicOrigin);
  const endpoint = `${origin}${removedPrefix(request, trustedProxies)}${source.path}`;
  return { query: queryOf(request.url ?? ""), headers: request.headers, endpoint };
}

function logged(
  source: Source,
  { requestId, address }: RequestContext,
  { log }: HandshakeParts,
  answer: Answer,
): Answer {
  const kind = source.handshake?.kind;
  log.info({ event: "handshake_answered", source: source.name, kind, requestId, address }, "answered a handshake");
  return answer;
}
