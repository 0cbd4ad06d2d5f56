import type { BlockList } from "node:net";
import * as v from "valibot";
import { AppError, type ErrorCode } from "../../errors.ts";
import { readRawBody } from "../../http/body.ts";
import type { Endpoint, RequestContext, RequestHandler } from "../../http/endpoint.ts";
import { removedPrefix, sentOrigin, sentTarget } from "../../http/proxies.ts";
import { requireMediaType } from "../../lib/body-headers.ts";
import { mediaTypeIn } from "../../lib/header-value.ts";
import { queryOf } from "../../lib/request-target.ts";
import type { Log } from "../../log.ts";
import { type Content, openContent } from "../content/content.ts";
import {
  type Answer,
  type AnswerRequest,
  type ChallengeRequest,
  isThere,
  type Members,
  type Validation,
} from "../provider/handshake.ts";
import type { Kept } from "../secrets/received-secrets.ts";
import { headersOf } from "../signature/schemes.ts";
import { createVerifier } from "../signature/signature.ts";
import type { SignedRequest } from "../signature/signed-text.ts";
import { pathsOf, type Source } from "../source.ts";
import { handshakeOf, requireAnswer } from "./kinds.ts";

/** What the endpoints of handshakes use. */
export interface HandshakeParts {
  log: Log;
  trustedProxies: BlockList | undefined;
  /** Keeps the secret that a handshake brought until it is shown, if the source waits for one. */
  keepSecret(source: Source, secret: { value: string; address: string }): Promise<Kept>;
  now?(): number;
}

const PROBLEMS: ErrorCode[] = ["validation_failed", "address_not_allowed", "intake_paused"];

/** The endpoints of a source for handshakes that are no deliveries: GET, HEAD or OPTIONS, if its provider uses them. */
export function handshakeEndpoints(source: Source, parts: HandshakeParts): Endpoint[] {
  const handshake = handshakeOf(source.handshake);
  if (!handshake) return [];
  const { query, json, statuses, refusal } = handshake;
  const requireSigned = handshake.signsRequests ? signatureOf(source, parts) : () => {};
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
              const found = answer(challengeOf(source, context, parts));
              return logged(source, context, parts, requireAnswer(found, "validation_failed"));
            },
            quiet: true,
            ...endpoint,
          },
        ];
  return [
    ...endpointOf(handshake.get, {
      method: "GET",
      summary: "Answers the handshake of the provider, if the source has `handshake`.",
      ...(query && { query: schemaOf(query) }),
      response: json ? schemaOf(json) : v.string(),
      ...(statuses && { statuses }),
      problems: refusal ? [...PROBLEMS, refusal] : PROBLEMS,
    }),
    ...endpointOf(handshake.head, {
      method: "HEAD",
      summary: "Tells the provider that the URL is right, if the source has `handshake`.",
    }),
    ...endpointOf(handshake.options, {
      method: "OPTIONS",
      summary: "Consents to deliveries, if the source has `handshake`.",
    }),
  ];
}

/**
 * Refuses a request without a right signature, of a provider that signs its check of the URL as it signs a delivery.
 */
function signatureOf(
  source: Source,
  { trustedProxies, now = Date.now }: HandshakeParts,
): (context: RequestContext) => void {
  const verifier = createVerifier(source);
  return ({ request }) => {
    const { headers, method = "" } = request;
    const sent = {
      method,
      origin: sentOrigin(request, trustedProxies, source.publicOrigin),
      target: sentTarget(request, trustedProxies),
      headers,
      content: openContent(Buffer.alloc(0), ""),
    };
    const found = verifier.judge(sent, now());
    if (typeof found === "string") throw new AppError("signature_mismatch", { reason: found });
  };
}

const TYPES = {
  text: v.string(),
  "text?": v.optional(v.string()),
  "text or number": v.union([v.string(), v.number()]),
};

function schemaOf(members: Members): v.GenericSchema {
  const entries = Object.entries(members).map(([name, type]) => [
    name,
    typeof type === "number" ? v.literal(type) : TYPES[type],
  ]);
  return v.object(Object.fromEntries(entries));
}

/** What a handshake changes in the description of a source's deliveries. `usual` is that of other sources. */
export function describeHandshake(
  source: Source,
  usual: { response: v.GenericSchema; problems: ErrorCode[] },
): Partial<Endpoint> {
  const { delivery, validation, json, statuses } = handshakeOf(source.handshake) ?? {};
  const isText = validation || (delivery && (!json || statuses));
  return {
    ...(delivery && json && { response: v.union([usual.response, schemaOf(json)]) }),
    ...(delivery && statuses && { statuses }),
    ...(validation?.query && { query: schemaOf(validation.query) }),
    ...(validation && { problems: [...usual.problems, "validation_failed"] }),
    ...(validation?.body && { requestTypes: [...new Set([...source.contentTypes, validation.body.type])] }),
    ...(isText && { otherType: "text/plain" }),
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
  const validation = handshakeOf(source.handshake)?.validation;
  if (!validation) return undefined;
  const { asks = ({ headers }) => mediaTypeIn(headers["content-type"] ?? "") === validation.body?.type } = validation;
  const { answer: answerOf = isThere } = validation;
  const signatures = source.schemes.flatMap(headersOf);
  return {
    asks({ request: { headers, url = "" } }) {
      if (validation.body && Number(headers["content-length"]) > MAX_UNSIGNED_BYTES) return false;
      const isUnsigned = signatures.every((name) => headers[name] === undefined);
      return isUnsigned && asks({ query: queryOf(url), headers });
    },
    async handler(context) {
      const content = await requireBody(validation, source, context);
      const challenge = challengeOf(source, context, parts);
      const answer = requireAnswer(answerOf(challenge), "validation_failed");
      if (validation.secret) await keep(source, context, parts, validation.secret(challenge, content));
      return logged(source, context, parts, answer);
    },
  };
}

// A challenge has about 100 bytes.
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
  const answerDelivery = handshakeOf(source.handshake)?.delivery;
  if (!answerDelivery) return undefined;
  return (context: RequestContext, content: Content, secretName?: string): Answer | null => {
    const secret = source.secrets.find(({ name }) => name === secretName)?.value ?? "";
    const answer = answerDelivery(content, { secret, headers: context.request.headers });
    return answer && logged(source, context, parts, requireAnswer(answer, "invalid_payload"));
  };
}

/**
 * Answers a delivery that is not genuine if it is a handshake: one without a signature, or signed with a key that
 * everybody knows. Undefined for other kinds. The answer is null for any other delivery. `sent` is null if its body is
 * not read.
 */
export function refusedAnswerOf(source: Source, parts: HandshakeParts) {
  const { isUnsigned, testKey: key } = handshakeOf(source.handshake) ?? {};
  const { now = Date.now } = parts;
  const answer = deliveryAnswerOf(source, parts);
  if (!answer || !(isUnsigned || key !== undefined)) return undefined;
  const tester =
    key === undefined ? null : createVerifier({ ...source, secrets: [{ name: key, value: key, mark: "" }] });
  return async (context: RequestContext, mediaType: string, sent: SignedRequest | null): Promise<Answer | null> => {
    if (sent && typeof tester?.judge(sent, now()) === "object") return answer(context, sent.content);
    if (!isUnsigned) return null;
    if (sent) return sent.content.bytes.length > MAX_UNSIGNED_BYTES ? null : answer(context, sent.content);
    const { request, address } = context;
    if (Number(request.headers["content-length"]) > MAX_UNSIGNED_BYTES) return null;
    return answer(context, openContent(await readRawBody(request, MAX_UNSIGNED_BYTES, address), mediaType));
  };
}

function challengeOf(
  source: Source,
  { request }: RequestContext,
  { trustedProxies }: HandshakeParts,
): ChallengeRequest {
  const origin = sentOrigin(request, trustedProxies, source.publicOrigin);
  const endpoint = `${origin}${removedPrefix(request, trustedProxies)}${source.path}`;
  const [secret, token] = [source.secrets[0]?.value ?? "", source.handshake?.token?.value];
  return { query: queryOf(request.url ?? ""), headers: request.headers, endpoint, secret, token };
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
