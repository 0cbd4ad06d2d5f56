import type { BlockList } from "node:net";
import * as v from "valibot";
import { AppError, type ErrorCode } from "../errors.ts";
import type { Appended, NewEvent } from "../events/store.ts";
import { readRawBody } from "../http/body.ts";
import { type Endpoint, type RequestContext, type RequestHandler, reply } from "../http/endpoint.ts";
import type { Reply } from "../http/problem.ts";
import { sentOrigin, sentTarget } from "../http/proxies.ts";
import { createRateLimit } from "../lib/rate-limit.ts";
import type { Log } from "../log.ts";
import type { RefusalCode } from "../metrics.ts";
import { requireAddress } from "./addresses/allowed-addresses.ts";
import { type DeliveryMethod, isInQuery } from "./content/body.ts";
import { DEFAULT_SOURCE_NAME } from "./default-source.ts";
import { type ConfirmationParts, confirmOf } from "./handshakes/confirmation.ts";
import {
  deliveryAnswerOf,
  describeHandshake,
  type HandshakeParts,
  handshakeEndpoints,
  refusedAnswerOf,
  validationOf,
} from "./handshakes/endpoints.ts";
import { withoutCredentials } from "./held/held-credentials.ts";
import { type Holding, isKept, redactedHeld } from "./held/holding.ts";
import type { Intake } from "./intake/intake.ts";
import { headersOf, isInPath } from "./signature/schemes.ts";
import type { Credential } from "./signature/secret.ts";
import { below, pathsOf, type Source } from "./source.ts";
import { eventOf } from "./stages/event.ts";
import {
  type Delivery,
  deliveryOf,
  type GenuineDelivery,
  passStages,
  payloadOfQuery,
  type StageParts,
  stagesOf,
  yieldFor,
} from "./stages/stages.ts";

/** A delivery's body, as the sender writes it. The source `default` takes objects only. */
const ObjectBody = v.record(v.string(), v.unknown());
const AnyBody = v.unknown();
const Query = v.record(v.string(), v.string());

const DeliveryAnswer = v.object({ received: v.literal(true), duplicate: v.boolean(), eventId: v.string() });

/** What the endpoints of sources use. */
export interface DeliveryParts extends ConfirmationParts, StageParts {
  intake: Intake;
  trustedProxies: BlockList | undefined;
  /** Keeps a refused delivery if its source asks for that. */
  hold: Holding["hold"];
  /** See {@link HandshakeParts}. */
  keepSecret: HandshakeParts["keepSecret"];
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
const withoutSecret = (path: string) => path.replace(`/${SECRET_IN_PATH}`, "/…");

/** The path of a source, and that with a secret behind it, as its schemes need. */
function placesOf({ path, schemes }: Source): string[] {
  const withSecret = schemes.some(isInPath) ? [below(path, `/${SECRET_IN_PATH}`)] : [];
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
  const problems: RefusalCode[] = [
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

/** Answers a delivery that is not genuine if it is a handshake, and keeps it if its source asks for that. */
function refusedOf(source: Source, parts: DeliveryParts) {
  const answerHandshake = refusedAnswerOf(source, parts);
  return async (context: RequestContext, delivery: Delivery, { reason = "" }: AppError): Promise<Reply | null> => {
    const { mediaType, bytes, method, origin, address, receivedAt } = delivery;
    const answer = (await answerHandshake?.(context, mediaType, bytes && delivery)) ?? null;
    if (answer || bytes === null || !isKept(source, reason)) return answer;
    const sent = { method, origin, mediaType, ...withoutCredentials(source, delivery), body: bytes };
    const kept = redactedHeld(source, sent);
    if (kept) await parts.hold(source, { source: source.name, reason, address, receivedAt, ...kept });
    return null;
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

/**
 * Receives deliveries of a source. One that passes the stages may be a handshake. Else the answer 200 is sent when the
 * event is on disk.
 */
function receive(source: Source, parts: EndpointParts): RequestHandler {
  const { intake, log, trustedProxies, onReceived, now = Date.now } = parts;
  const stages = stagesOf(source, parts);
  const answerRefused = refusedOf(source, parts);
  const answerHandshake = deliveryAnswerOf(source, parts);
  const confirm = confirmOf(source, parts);

  function arrived({ request, requestId, address }: RequestContext): Delivery {
    const { headers, rawHeaders, method = "", url } = request;
    return deliveryOf({
      method,
      origin: sentOrigin(request, trustedProxies, source.publicOrigin),
      target: sentTarget(request, trustedProxies),
      headers,
      rawHeaders,
      address,
      requestId,
      now,
      readBody: async () =>
        isInQuery(method) ? payloadOfQuery(source, url) : readRawBody(request, source.bodyLimitBytes, address),
    });
  }

  return async (context) => {
    const delivery = arrived(context);
    let genuine: GenuineDelivery;
    try {
      genuine = await passStages(stages, delivery);
    } catch (error) {
      const isGenuine = !(error instanceof AppError) || error.code !== "signature_mismatch";
      const answer = isGenuine ? null : await answerRefused(context, delivery, error);
      if (answer) return answer;
      throw error;
    }
    const { payload, verified, receivedAt, requestId } = genuine;
    const answer = answerHandshake?.(context, payload, verified.secret.name);
    if (answer) return answer;

    parts.requireRate();
    await yieldFor(payload);
    const fault = payload.fault();
    const event = eventOf(source, genuine);
    const appended = await intake.append(event);
    onReceived(source.name, verified.secret, receivedAt, appended);
    logStored({ event, appended, fault, requestId }, log);
    if (confirm) await intake.write(payload.bytes.length, () => confirm(context, payload));
    return storedReply(source, event, appended);
  };
}
