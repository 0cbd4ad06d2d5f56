import type { IncomingHttpHeaders } from "node:http";
import type { ErrorCode } from "../../errors.ts";
import { isObject } from "../../lib/json.ts";
import type { Content } from "../intake/content.ts";

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

/** A POST without a signature by which a provider checks the URL. It is never an event. */
export interface Validation {
  /** Whether a request looks like one. Undefined: if it has the media type. */
  asks?(request: Pick<ChallengeRequest, "query" | "headers">): boolean;
  /** The names in its query, see `Handshake`. */
  query?: readonly string[];
  /** The media type and the body that it must have. Undefined: any. */
  body?: { type: string; isRight(content: Content): boolean };
  answer: AnswerRequest;
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
  /** The names in the query of GET. One that may be missing ends with `?`. */
  query?: readonly string[];
  /** How a GET is refused whose token, code or signature is wrong. */
  refusal?: ErrorCode;
  /** The members of answers in JSON: a number is always the same. Undefined: answers are in text. */
  json?: Readonly<Record<string, "text" | "text or number" | number>>;
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
  /** Whether the server opens the URL of a subscription to confirm it. */
  confirms?: true;
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

/** An empty answer with a challenge in a header, and perhaps other headers. */
export function inHeader(name: string, challenge: string, others: Record<string, string> = {}): Answer {
  const { headers, ...answer } = text("");
  return { ...answer, headers: { ...headers, ...others, [name]: challenge } };
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

/** Whether a body is a JSON object with this member only. */
export function hasOnly(content: Content, name: string): boolean {
  const parsed = content.json();
  return parsed.ok && isObject(parsed.value) && Object.keys(parsed.value).join() === name;
}
