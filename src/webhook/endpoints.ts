import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as v from "valibot";
import { AppError, type ErrorCode } from "../errors.ts";
import type { Appended, NewEvent } from "../events/store.ts";
import { readRawBody, requireCoding, requireEncodableType } from "../http/body.ts";
import { type Endpoint, type RequestContext, type RequestHandler, reply } from "../http/endpoint.ts";
import type { Reply } from "../http/problem.ts";
import { sentOrigin, sentTarget } from "../http/proxies.ts";
import { createRateLimit } from "../lib/rate-limit.ts";
import type { Log } from "../log.ts";
import type { AddressLists } from "./addresses/address-lists.ts";
import { contentTypeOf, type DeliveryMethod, isInQuery, openBody } from "./content/body.ts";
import { FORM } from "./content/content.ts";
import { DEFAULT_SOURCE_NAME } from "./default-source.ts";
import { type ConfirmationParts, confirmOf } from "./handshakes/confirmation.ts";
import {
  deliveryAnswerOf,
  describeHandshake,
  type HandshakeParts,
  handshakeEndpoints,
  testAnswerOf,
  unsignedAnswerOf,
  validationOf,
} from "./handshakes/endpoints.ts";
import { withoutCredentials } from "./held/held-credentials.ts";
import { type Holding, isKept, redactedHeld } from "./held/holding.ts";
import type { Intake } from "./intake/intake.ts";
import type { Retirement } from "./secrets/retirement.ts";
import type { RefusalReason } from "./signature/bound-scheme.ts";
import { type KeySets, keySetsOf } from "./signature/key-sets.ts";
import { asksForCredentials, headersOf, isInPath } from "./signature/schemes.ts";
import type { Credential } from "./signature/secret.ts";
import { createVerifier, type ReadSignatures } from "./signature/signature.ts";
import type { SignedRequest } from "./signature/signed-text.ts";
import { isDefault, pathsOf, type Source } from "./source.ts";
import { requireAddress, UNKNOWN_RETRY_SECONDS } from "./stages/address.ts";
import { payloadOfQuery } from "./stages/body.ts";
import { eventOf, requirePayload } from "./stages/delivered-event.ts";

/** A delivery's body, as the sender writes it. The source `default` takes objects only. */
const ObjectBody = v.record(v.string(), v.unknown());
const AnyBody = v.unknown();
const Query = v.record(v.string(), v.string());

const DeliveryAnswer = v.object({ received: v.literal(true), duplicate: v.boolean(), eventId: v.string() });

/** What the endpoints of sources use. */
export interface DeliveryParts extends ConfirmationParts {
  intake: Intake;
  trustedProxies: BlockList | undefined;
  addressLists: Pick<AddressLists, "find">;
  keySets: Pick<KeySets, "withKeys" | "renew" | "isMissing">;
  /** Keeps a refused delivery if its source asks for that. */
  hold: Holding["hold"];
  /** See {@link HandshakeParts}. */
  keepSecret: HandshakeParts["keepSecret"];
  /** Whether a secret that has verified a delivery is not retired. */
  acceptsSecret: Retirement["accepts"];
  /** Called for each stored delivery, also a duplicate. */
  onReceived(source: string, secret: Credential, at: number, appended: Appended): void;
  /** Called for each refused delivery. */
  onRefused(source: string, code: ErrorCode, reason: string | undefined, address: string): void;
  now?(): number;
}

/** The endpoints of a source: the one of its deliveries, and those of its handshake. */
export function sourceEndpoints(source: Source, parts: DeliveryParts): Endpoint[] {
  // One rate for all paths and methods.
  const requireRate = rateGuard(source);
  return placesOf(source).flatMap((place) =>
    endpointsAt({ ...source, path: place }, { ...parts, requireRate }).map((endpoint) => ({
      ...endpoint,
      audience: "senders" as const,
      loggedPath: withoutSecret(endpoint.path),
    })),
  );
}

/** Which of the paths of a source a path is, with a secret in it replaced. Undefined if it is none. */
export function pathOfSource(source: Source, path: string): string | undefined {
  const patterns = placesOf(source).flatMap((place) => Object.values(pathsOf({ ...source, path: place })).flat());
  const found = [source.path, ...patterns].find((pattern) => isLike(path.split("/"), pattern.split("/")));
  return found && withoutSecret(found);
}

const isLike = (path: readonly string[], pattern: readonly string[]) =>
  path.length === pattern.length &&
  pattern.every((segment, index) => (segment === SECRET_IN_PATH ? path[index] !== "" : segment === path[index]));

const SECRET_IN_PATH = ":secret";
const withoutSecret = (path: string) => path.replace(SECRET_IN_PATH, "…");

/** The path of a source, and that with a secret behind it, as its schemes need. */
function placesOf({ path, schemes }: Source): string[] {
  const withSecret = schemes.some(isInPath) ? [`${path}/${SECRET_IN_PATH}`] : [];
  return schemes.every(isInPath) ? withSecret : [path, ...withSecret];
}

/** What the endpoints of one source share. */
interface EndpointParts extends DeliveryParts {
  requireRate(): void;
}

function endpointsAt(source: Source, parts: EndpointParts): Endpoint[] {
  const handshakes = handshakeEndpoints(source, parts);
  const methods = source.methods ?? ["POST"];
  return [
    ...pathsOf(source).deliveries.flatMap((path) =>
      methods.map((method) => deliveryEndpoint(source, { method, path }, parts)),
    ),
    ...handshakes.map((endpoint) => ({ ...endpoint, handler: withAllowedAddress(source, parts, endpoint.handler) })),
  ];
}

function deliveryEndpoint(
  source: Source,
  { method, path }: { method: DeliveryMethod; path: string },
  parts: EndpointParts,
): Endpoint {
  const problems: ErrorCode[] = [
    "invalid_payload",
    "address_not_allowed",
    "signature_mismatch",
    "payload_too_large",
    "unsupported_media_type",
    ...(source.rate ? (["too_many_deliveries"] as const) : []),
    "intake_paused",
    "queue_full",
    "store_unavailable",
  ];
  return {
    method,
    path,
    summary: `Receives a delivery, and answers when the event is on disk. \`duplicate\` is true if it was stored before. ${originOf(source)}`,
    needs: needsOfDelivery(source),
    ...(isInQuery(method)
      ? { query: Query }
      : { request: source.isEnvelope ? ObjectBody : AnyBody, requestTypes: source.contentTypes }),
    response: DeliveryAnswer,
    problems,
    ...(source.needsEmptyAnswers && { isBodiless: true }),
    ...(source.acknowledgement && {
      statuses: [source.acknowledgement.status],
      otherType: source.acknowledgement.type,
    }),
    ...(source.refusedStatus && { problemStatuses: { signature_mismatch: source.refusedStatus } }),
    ...(method === "POST" && describeHandshake(source, { response: DeliveryAnswer, problems })),
    handler: withValidation(source, parts, receive(source, parts)),
    quiet: true,
    onProblem: (code, reason, address) => parts.onRefused(source.name, code, reason, address),
  };
}

/** What makes the endpoint of a source. */
function originOf({ name }: Source): string {
  if (name !== DEFAULT_SOURCE_NAME) return `The configuration file has it as the source \`${name}\`.`;
  return "`WEBHOOK_PATH` sets the path. Without `WEBHOOK_SECRET` this route does not exist. The configuration file adds routes like this.";
}

function needsOfDelivery({ schemes }: Source): string {
  const headers = new Set(schemes.flatMap(headersOf).map((name) => `\`${name}\``));
  const isElsewhere = schemes.some((scheme) => headersOf(scheme).length === 0);
  const places = [
    ...(headers.size > 0 ? [`in one of the headers ${[...headers].join(", ")}`] : []),
    ...(isElsewhere ? ["in the body or the address"] : []),
  ];
  return `a signature ${places.join(", or ")}`;
}

/** Answers requests for a handshake that are no deliveries before the handler. */
function withValidation(source: Source, parts: DeliveryParts, handler: RequestHandler): RequestHandler {
  const validation = validationOf(source, parts);
  if (!validation) return handler;
  const validate = withAllowedAddress(source, parts, validation.handler);
  return (context) => (validation.asks(context) ? validate(context) : handler(context));
}

function withAllowedAddress(source: Source, parts: DeliveryParts, handler: RequestHandler): RequestHandler {
  return (context) => {
    requireAddress(source, context, parts);
    return handler(context);
  };
}

/** A stored delivery, with what is wrong with its body. */
interface Stored {
  event: NewEvent;
  appended: Appended;
  fault: string | null;
  requestId: string;
}

/** Logs what is unusual about a stored delivery. */
function logStored({ event, appended, fault, requestId }: Stored, log: Log): void {
  const { source, eventId, address } = event;
  if (fault !== null && !appended.duplicate) {
    log.warn(
      { event: "delivery_malformed", requestId, source, eventId: appended.eventId ?? eventId, fault },
      `the body ${fault}; it is stored as it is`,
    );
  }
  if (appended.conflict) {
    log.warn(
      { event: "delivery_conflict", requestId, source, eventId, address },
      "a stored event has the same id and other bytes",
    );
  }
  if (appended.repeat) {
    log.info(
      { event: "delivery_repeat", requestId, source, eventId: appended.eventId, deliveredId: eventId, address },
      "a stored event has the same bytes and another id",
    );
  }
}

const BASIC_CHALLENGE = { "WWW-Authenticate": 'Basic realm="webhook", charset="UTF-8"' };

/**
 * Whether the sender has published other keys since a signature matched none. Throws `intake_paused` if its keys have
 * never been read: by the next delivery they may have been.
 */
async function mayHaveNewKey(
  source: Source,
  reason: RefusalReason,
  keySets: DeliveryParts["keySets"],
): Promise<boolean> {
  if (reason !== "signature_mismatch" || keySetsOf(source).length === 0) return false;
  const hasChanged = await keySets.renew(source);
  if (keySets.isMissing(source))
    throw new AppError("intake_paused", { reason: "keys_unknown", retryAfterSeconds: UNKNOWN_RETRY_SECONDS });
  return hasChanged;
}

/** A delivery that was read and is not genuine. `receivedAt` is in Unix milliseconds. */
interface NotGenuine {
  sent: SignedRequest;
  /** The body as it was sent. */
  bytes: Buffer;
  mediaType: string;
  receivedAt: number;
  reason: RefusalReason;
}

/** Creates the stage that refuses deliveries. They may be a request for a handshake, or be kept for later. */
function refusalOf(source: Source, parts: DeliveryParts) {
  const answerUnsigned = unsignedAnswerOf(source, parts);
  const answerTest = testAnswerOf(source, parts);
  const challenge = asksForCredentials(source.schemes) ? BASIC_CHALLENGE : {};
  const notGenuine = (reason: RefusalReason) =>
    new AppError("signature_mismatch", { reason, status: source.refusedStatus, headers: challenge });
  return {
    /** Refuses a delivery whose body was not read. */
    async unread(context: RequestContext, mediaType: string, reason: RefusalReason): Promise<Reply> {
      const answer = answerUnsigned && (await answerUnsigned(context, mediaType));
      if (answer) return answer;
      throw notGenuine(reason);
    },
    /** Refuses a delivery whose body was read. */
    async read(context: RequestContext, { sent, bytes, mediaType, receivedAt, reason }: NotGenuine): Promise<Reply> {
      const answer = answerTest?.(context, sent) ?? (await answerUnsigned?.(context, mediaType, sent.content));
      if (answer) return answer;
      if (isKept(source, reason)) {
        const { method, origin } = sent;
        const delivery = { method, origin, mediaType, ...withoutCredentials(source, sent), body: bytes };
        const kept = redactedHeld(source, delivery);
        if (kept)
          await parts.hold(source, { source: source.name, reason, address: context.address, receivedAt, ...kept });
      }
      throw notGenuine(reason);
    },
  };
}

/** The answer to a stored delivery. */
function storedReply({ acknowledgement }: Source, { eventId }: NewEvent, appended: Appended): Reply {
  if (acknowledgement) {
    const { status, type, text } = acknowledgement;
    return { status, body: text, headers: { "Content-Type": type } };
  }
  return reply(200, { received: true, duplicate: appended.duplicate, eventId: appended.eventId ?? eventId });
}

/**
 * Returns a function that counts a delivery, and throws `too_many_deliveries` for one above the rate of a source. Only
 * genuine ones count: others must not keep them away.
 */
function rateGuard({ rate }: Source, now = () => performance.now()): () => void {
  const limit = createRateLimit(rate?.perSecond ?? null, rate && { burstSeconds: rate.seconds });
  return () => {
    if (limit.available(now()) >= 1) return limit.take(1, now());
    const waitMs = limit.nextAt(now()) - now();
    throw new AppError("too_many_deliveries", { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
  };
}

// Others come between the verification of a larger body, its reading and its redaction.
const LARGE_BYTES = 256 * 1024;
const yieldFor = async (body: Buffer) => body.length > LARGE_BYTES && nextTurn();

/** Whether a delivery is in the query of its address. */
const hasQuery = ({ method = "" }: IncomingMessage) => isInQuery(method);

/**
 * Receives deliveries of a source. The checks are, in order: media type, address, signature header, size, signature,
 * payload. A body is read only if a signature header is plausible, the source keeps refused deliveries, or its
 * handshake is not signed. It is parsed after verification, or before it where the signature is in the body. The answer
 * 200 is sent when the event is on disk.
 */
function receive(source: Source, parts: EndpointParts): RequestHandler {
  const { intake, log, trustedProxies, keySets, acceptsSecret, onReceived, now = Date.now } = parts;
  const { contentTypes, encoding = [] } = source;
  const isLenient = !isDefault(source);
  const verifier = createVerifier(keySetsOf(source).length > 0 ? keySets.withKeys(source) : source);
  const refuse = refusalOf(source, parts);
  const answerHandshake = deliveryAnswerOf(source, parts);
  const confirm = confirmOf(source, parts);

  const mediaTypeOf = (request: IncomingMessage) =>
    hasQuery(request) ? FORM : requireEncodableType(request, contentTypes, { isLenient });
  const codingOf = (request: IncomingMessage) => (hasQuery(request) ? null : requireCoding(request, encoding));
  const verify = (read: ReadSignatures, sent: SignedRequest) =>
    "reason" in read ? read.reason : verifier.verify(sent, read.candidates);

  return async (context) => {
    const { request, requestId, address } = context;
    const { headers, method = "" } = request;
    const mediaType = mediaTypeOf(request);
    const coding = codingOf(request);
    requireAddress(source, context, parts);

    let read = verifier.read(headers, now());
    if ("reason" in read && (await mayHaveNewKey(source, read.reason, keySets))) read = verifier.read(headers, now());
    if ("reason" in read && !isKept(source, read.reason)) return refuse.unread(context, mediaType, read.reason);

    const bytes = hasQuery(request)
      ? payloadOfQuery(source, request.url)
      : await readRawBody(request, source.bodyLimitBytes, address);
    const body = await openBody(source, { bytes, coding, contentType: contentTypeOf(method, headers), address });
    const receivedAt = now();
    const origin = sentOrigin(request, trustedProxies, source.publicOrigin);
    const target = sentTarget(request, trustedProxies);
    const sent = { method, origin, target, headers, content: body.signed };

    let verified = verify(read, sent);
    if (typeof verified === "string" && (await mayHaveNewKey(source, verified, keySets))) verified = verify(read, sent);
    if (
      typeof verified === "object" &&
      source.retireMs !== undefined &&
      !(await acceptsSecret(source, verified.secret))
    )
      verified = "secret_retired";
    if (typeof verified === "string")
      return refuse.read(context, { sent, bytes, mediaType, receivedAt, reason: verified });

    const content = await body.content();
    await yieldFor(content.bytes);
    requirePayload(source, content);
    const answer = answerHandshake?.(context, content, verified.secret.name);
    if (answer) return answer;

    parts.requireRate();
    await yieldFor(content.bytes);
    const fault = content.fault();
    const event = eventOf({ source, verified, headers, content, address, receivedAt });
    const appended = await intake.append(event);
    onReceived(source.name, verified.secret, receivedAt, appended);
    logStored({ event, appended, fault, requestId }, log);
    if (confirm) await intake.write(content.bytes.length, () => confirm(context, content));
    return storedReply(source, event, appended);
  };
}
