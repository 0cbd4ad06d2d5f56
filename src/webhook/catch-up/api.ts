import type { IncomingHttpHeaders } from "node:http";
import { MINUTE_MS } from "../../lib/durations.ts";
import type { ApiAnswer, ApiRequest, SendToApi } from "./adapter.ts";

/** An answer of any status. `isCut` if it was longer than was read. */
interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  isCut: boolean;
}

/** A request that the provider has not fulfilled. */
export class ApiError extends Error {
  /** The status of the answer; null without one. */
  readonly status: number | null;
  /** Before this time (Unix milliseconds) it takes no request; null if it would. */
  readonly notBefore: number | null;

  constructor(message: string, status: number | null, notBefore: number | null = null) {
    super(message);
    this.status = status;
    this.notBefore = notBefore;
  }
}

interface ApiOptions {
  /** Schemes and hosts. A request to another one is refused: it would get the credential. */
  origins: readonly string[];
  send(request: ApiRequest): Promise<RawAnswer>;
  wait(ms: number): Promise<void>;
  now(): number;
}

// GitLab repeats five deliveries in a minute, and says nothing about when it goes on.
const USUAL_WAIT_MS = MINUTE_MS;
/** A run ends rather than to wait longer. */
const MAX_WAIT_MS = 2 * MINUTE_MS;
const MAX_WAITS = 5;
const RETRY_MS = 2000;

/** Creates the sender of requests to an API. It waits as the provider asks, and tries again after a 5xx answer. */
export function createApi({ origins, send, wait, now }: ApiOptions): SendToApi {
  async function sendTo(request: ApiRequest, attempt: number): Promise<ApiAnswer> {
    const name = nameOf(request, origins);
    const answer = await send(request).catch((error: Error) => {
      throw new ApiError(`${name}: ${error.message}`, null);
    });
    const { status, headers } = answer;
    if (status >= 200 && status < 300) return read(name, answer);
    const waitMs = waitOf(status, headers, now()) ?? (status >= 500 && attempt < 2 ? RETRY_MS : null);
    if (waitMs === null) throw new ApiError(`${name}: the answer was ${status}`, status);
    if (waitMs > MAX_WAIT_MS || attempt >= MAX_WAITS)
      throw new ApiError(`${name}: the answer was ${status}, a rate limit`, status, now() + waitMs);
    await wait(waitMs);
    return sendTo(request, attempt + 1);
  }

  return (request) => sendTo(request, 0);
}

/** Names a request in messages, without its query. Throws if it goes to another host than the API. */
function nameOf({ url: text, method, body }: ApiRequest, origins: readonly string[]): string {
  const url = new URL(text);
  if (!origins.includes(url.origin))
    throw new ApiError(`${url.origin} is not ${origins.join(" or ")}: no request was sent`, null);
  return `${method ?? (body === undefined ? "GET" : "POST")} ${url.pathname}`;
}

function read(name: string, { status, headers, text, isCut }: RawAnswer): ApiAnswer {
  if (isCut) throw new ApiError(`${name}: the answer is too long`, status);
  return { headers, text, json: text === "" ? undefined : parsed(name, text) };
}

/** How long a provider asks to wait, in milliseconds; null if its answer is about something else. */
function waitOf(status: number, headers: IncomingHttpHeaders, now: number): number | null {
  const isLimit = status === 429 || (status === 403 && isExhausted(headers)) || (status === 503 && hasWait(headers));
  if (!isLimit) return null;
  const after = Number(headers["retry-after"]);
  if (hasWait(headers) && after >= 0) return after * 1000;
  const reset = Number(headers["x-ratelimit-reset"] ?? headers["ratelimit-reset"]);
  return reset > 0 ? Math.max(1000, reset * 1000 - now) : USUAL_WAIT_MS;
}

const hasWait = (headers: IncomingHttpHeaders) => headers["retry-after"] !== undefined;

/** GitHub answers 403 when the limit is reached. */
const isExhausted = (headers: IncomingHttpHeaders) => headers["x-ratelimit-remaining"] === "0" || hasWait(headers);

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text, withDigits);
  } catch {
    throw new ApiError(`${name}: the answer is no JSON`, 200);
  }
}

/** GitHub's ids of deliveries may be larger than JavaScript can hold. */
function withDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  const isTooLarge = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isTooLarge ? (context?.source ?? value) : value;
}
