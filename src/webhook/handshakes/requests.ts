import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../errors.ts";
import type { Source } from "../source.ts";
import { type Answer, BRAINTREE_CHALLENGE, json, PRINTABLE, requireChallenge, text } from "./answer.ts";
import type { HandshakeKind } from "./kind.ts";

/** A request by which a provider asks whether deliveries are welcome. */
export interface ChallengeRequest {
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** The address that the provider has, without a query. */
  endpoint: string;
}

/** Answers such a request. Throws `validation_failed` for a bad challenge. */
export type AnswerRequest = (request: ChallengeRequest, source: Pick<Source, "secrets" | "handshake">) => Answer;

// LinkedIn's signatures are of `hmacsha256=` and the body, with the same secret. So a challenge has no `=`; it is a
// UUID.
const WITHOUT_EQUALS = /^[A-Za-z0-9_-]{1,256}$/;

const isThere: AnswerRequest = () => text("");

const echoChallenge: AnswerRequest = ({ query }) => text(challengeIn(query, "challenge"));

/** Consents to a subscription, not to its end, which anybody could ask for. */
function subscribed({ query }: ChallengeRequest, { handshake }: Pick<Source, "handshake">): Answer {
  if (query.get("hub.mode") !== "subscribe") throw noChallenge("hub.mode", "must be subscribe");
  const needsToken = handshake?.kind === "meta" || handshake?.token !== undefined;
  if (needsToken && !isSame(query.get("hub.verify_token"), handshake.token?.value))
    throw new AppError("signature_mismatch", { reason: "signature_mismatch" });
  return echoed(challengeIn(query, "hub.challenge"), handshake);
}

/** A challenge as text, or in JSON if the source says so. */
function echoed(challenge: string, handshake: Source["handshake"]): Answer {
  return handshake?.as === undefined ? text(challenge) : json({ [handshake.as]: challenge });
}

/** Tells a sender whether the code that it asks for is right. Fitbit wants 404 for a wrong one. */
function matched({ query }: ChallengeRequest, { handshake }: Pick<Source, "handshake">): Answer {
  const { name = "", token } = handshake ?? {};
  if (!isSame(query.get(name), token?.value)) throw new AppError("not_found");
  return text("", 204);
}

/** The answers to GET, by kind. */
export const GET_ANSWERS: Partial<Record<HandshakeKind, AnswerRequest>> = {
  adobe: echoChallenge,
  airship: (_, { handshake }) => json({ confirmation_code: handshake?.token?.value ?? "" }),
  braintree({ query }, { secrets, handshake }) {
    const challenge = requireChallenge(query.get("bt_challenge"), "bt_challenge", { form: BRAINTREE_CHALLENGE });
    const key = hash("sha1", secrets[0]?.value ?? "", "buffer");
    return text(`${handshake?.token?.value}|${createHmac("sha1", key).update(challenge).digest("hex")}`);
  },
  dropbox: echoChallenge,
  ebay({ query, endpoint }, { handshake }) {
    const code = challengeIn(query, "challenge_code");
    return json({ challengeResponse: hash("sha256", `${code}${handshake?.token?.value ?? ""}${endpoint}`) });
  },
  linkedin({ query }, { secrets }) {
    const challengeCode = requireChallenge(query.get("challengeCode"), "challengeCode", { form: WITHOUT_EQUALS });
    return json({ challengeCode, challengeResponse: hmacOf(challengeCode, secrets).digest("hex") });
  },
  "echo-query": ({ query }, { handshake }) => echoed(challengeIn(query, handshake?.name ?? ""), handshake),
  hub: subscribed,
  mailchimp: isThere,
  "match-query": matched,
  meta: subscribed,
  nylas: echoChallenge,
  okta: ({ headers }) => {
    const header = "x-okta-verification-challenge";
    return json({ verification: requireChallenge(headers[header], header, { form: PRINTABLE }) });
  },
  onfleet: ({ query }) => text(challengeIn(query, "check")),
  x({ query }, { secrets }) {
    const mac = hmacOf(challengeIn(query, "crc_token"), secrets).digest("base64");
    return json({ response_token: `sha256=${mac}` });
  },
};

/** The answers to HEAD, by kind. */
export const HEAD_ANSWERS: Partial<Record<HandshakeKind, AnswerRequest>> = {
  head: isThere,
  intercom: isThere,
  mandrill: isThere,
  trello: isThere,
};

// A name of DNS, which some senders precede with a scheme.
const ORIGIN = /^[A-Za-z0-9._:/-]{1,255}$/;

/** Consents to deliveries at any rate (CloudEvents webhooks 1.0, 4.2). */
const consent: AnswerRequest = ({ headers }) => {
  const header = "webhook-request-origin";
  const origin = requireChallenge(headers[header], header, { form: ORIGIN });
  const { status, body, headers: type } = text("");
  return {
    status,
    body,
    headers: { ...type, Allow: "OPTIONS, POST", "WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": "*" },
  };
};

/** The answers to OPTIONS, by kind. Event Grid uses it for deliveries in the schema of CloudEvents. */
export const OPTIONS_ANSWERS: Partial<Record<HandshakeKind, AnswerRequest>> = {
  cloudevents: consent,
  event_grid: consent,
};

function challengeIn(query: URLSearchParams, name: string): string {
  return requireChallenge(query.get(name), name);
}

/** The HMAC of a challenge, made with the newest secret. */
function hmacOf(challenge: string, secrets: Source["secrets"]) {
  return createHmac("sha256", secrets[0]?.value ?? "").update(challenge);
}

function noChallenge(path: string, message: string): AppError {
  return new AppError("validation_failed", { errors: [{ path, message }] });
}

/** Compares in constant time. */
function isSame(given: string | null, expected: string | undefined): boolean {
  if (given === null || expected === undefined) return false;
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", expected, "buffer"));
}

/** The methods, besides `POST`, by which the handshake of a kind comes. */
export function methodsOf(kind: HandshakeKind): string[] {
  return Object.entries({ GET: GET_ANSWERS, HEAD: HEAD_ANSWERS, OPTIONS: OPTIONS_ANSWERS }).flatMap(
    ([method, answers]) => (answers[kind] ? [method] : []),
  );
}
