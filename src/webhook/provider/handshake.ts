import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { ErrorCode } from "../../errors.ts";
import { isObject } from "../../lib/json.ts";
import type { Content } from "../content/content.ts";
import type { Secret } from "../signature/secret.ts";

/** The answer to a handshake. A text is sent unchanged, any other body as JSON. */
export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/**
 * Why there is no answer: what of the request is wrong, or which error it is. Answers throw none, because tests load
 * providers with another copy of `AppError`.
 */
export type NoAnswer =
  | { path: string; message: string }
  | { code: "signature_mismatch" | "not_found"; reason?: string };

/** A request by which a provider asks whether deliveries are welcome. */
export interface ChallengeRequest {
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** The address that the provider has, without a query. */
  endpoint: string;
  /** The newest secret, or an empty text. */
  secret: string;
  token?: string | undefined;
}

/** Answers such a request. */
export type AnswerRequest = (request: ChallengeRequest) => Answer | NoAnswer;

/** Names with what they have: a number is always the same, and `text?` may be missing. */
export type Members = Readonly<Record<string, "text" | "text?" | "text or number" | number>>;

/** What a source says about the check of its URL. */
export interface HandshakeSettings {
  /** The `kind` of a {@link Handshake}. */
  kind: string;
  token?: Secret;
  /** The parameter, the header or the member with the challenge, if the source describes it. */
  name?: string;
  /** The header or the member of JSON that it is echoed in. Undefined: as text, or under the same name. */
  as?: string;
}

/** A POST without a signature by which a provider checks the URL. It is never an event. */
export interface Validation {
  /** Whether a request looks like one. Undefined: if it has the media type. */
  asks?(request: Pick<ChallengeRequest, "query" | "headers">): boolean;
  query?: Members;
  /** The media type and the body that it must have. Undefined: any. */
  body?: { type: string; isRight(content: Content): boolean };
  /** Undefined: an empty answer. */
  answer?: AnswerRequest;
  /** The secret that it brings, which signs the deliveries from then on. */
  secret?(request: ChallengeRequest, content: Content | null): string;
}

/** How a provider checks a URL, or a sender that a source describes. */
export interface Handshake {
  /** What logs and commands call it: the preset, or the `type` in the file. */
  kind: string;
  /** Whether the provider and the server also share a token for it. */
  hasToken?: true;
  /** What the token is if the answer shows it to anybody, so that it must be no secret. */
  publicToken?: string;
  get?: AnswerRequest;
  head?: AnswerRequest;
  options?: AnswerRequest;
  /** Whether these requests are signed like deliveries. */
  signsRequests?: true;
  /** The query of GET. */
  query?: Members;
  /** How a GET is refused whose token, code or signature is wrong. */
  refusal?: ErrorCode;
  /** The members of answers in JSON. Undefined: answers are in text. */
  json?: Members;
  /** The statuses of the answers to GET or deliveries, when not only 200. */
  statuses?: readonly number[];
  /** Answers a delivery if it is a handshake. `secret` is the one that signed it. */
  delivery?(content: Content, sent: { secret: string; headers: IncomingHttpHeaders }): Answer | NoAnswer | null;
  /** Whether `delivery` also answers without a signature. */
  isUnsigned?: true;
  /** A key that everybody knows, by which deliveries for `delivery` may be signed. */
  testKey?: string;
  validation?: Validation;
  /** Set if the answer is an HMAC of the challenge, made with the secret that also signs bodies. */
  signs?: {
    /** Whether anybody can send the challenge. */
    forAnybody: boolean;
    /** Where a payload is only a challenge. Undefined: deliveries are JSON, and no challenge is an object or array. */
    challengeIn?(content: Content): string | undefined;
  };
  /** Set if the server confirms a new subscription by opening a URL, which a delivery brings. */
  confirms?: Confirmation;
}

/** How a subscription is confirmed. */
interface Confirmation {
  /** The option of the source that says which subscriptions are confirmed. */
  option: string;
  /** The URL in a delivery that asks for it; null if it could do anything else, and undefined for other deliveries. */
  urlIn(content: Content, wanted: string | undefined): string | null | undefined;
}

/** An answer in plain text. */
export function text(body: string, status = 200): Answer {
  return { status, body, headers: { "Content-Type": "text/plain" } };
}

/** An answer in JSON. */
export function json(body: object): Answer {
  return { status: 200, body };
}

/** An empty answer: the URL is right. */
export const isThere = () => text("");

/** An empty answer with other headers. */
export function withHeaders(others: Record<string, string>): Answer {
  const { headers, ...answer } = text("");
  return { ...answer, headers: { ...headers, ...others } };
}

// Base64, base64url, numbers and UUIDs. A challenge of this form is never a signed body, which begins with `{`, `[` or
// `v0:`.
const CHALLENGE = /^[A-Za-z0-9+/=_-]{1,256}$/;

/** For challenges that are sentences, as those of Microsoft Graph and Okta may be. Nothing is signed there. */
export const PRINTABLE = /^[\x20-\x7e]{1,1024}$/;

/** Answers a challenge, which is at `path` of the request, if it has the form. */
export function withChallenge(
  value: unknown,
  path: string,
  answer: (challenge: string) => Answer,
  form = CHALLENGE,
): Answer | NoAnswer {
  if (typeof value === "string" && form.test(value)) return answer(value);
  return { path, message: "must be a challenge" };
}

type AnswerChallenge = (challenge: string, request: ChallengeRequest) => Answer;

/** Answers GET with a challenge in the query. */
export function inQuery(name: string, answer: AnswerChallenge, form?: RegExp): Pick<Handshake, "query" | "get"> {
  const get: AnswerRequest = (request) =>
    withChallenge(request.query.get(name), name, (challenge) => answer(challenge, request), form);
  return { query: { [name]: "text" }, get };
}

/** Answers a request with a challenge in a header. */
export function inHeader(name: string, answer: AnswerChallenge, form?: RegExp): AnswerRequest {
  return (request) => withChallenge(request.headers[name], name, (challenge) => answer(challenge, request), form);
}

/** Answers a delivery with a challenge. */
export function inMember(content: Content, path: string, answer: (challenge: string) => Answer): Answer | NoAnswer {
  return withChallenge(content.member(path), path, answer);
}

/** The HMAC of a challenge. */
export function hmacOf(challenge: string, secret: string, encoding: "hex" | "base64" = "hex"): string {
  return createHmac("sha256", secret).update(challenge).digest(encoding);
}

/** Whether a body is a JSON object with this member only. */
export function hasOnly(content: Content, name: string): boolean {
  const parsed = content.json();
  return parsed.ok && isObject(parsed.value) && Object.keys(parsed.value).join() === name;
}
