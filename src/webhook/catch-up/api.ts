import type { IncomingHttpHeaders } from "node:http";
import { DAY_MS, MINUTE_MS } from "../../lib/durations.ts";
import { durationText } from "../../lib/figures.ts";
import { unreadShapeOf } from "../../lib/json.ts";
import { printable } from "../../lib/printable.ts";
import { readRetryAfter } from "../../lib/retry-after.ts";
import { type ApiAnswer, type ApiRequest, memberOf, type SendToApi } from "../provider/catch-up.ts";

/** A longer answer is refused. A page has a hundred events at most, some with their bodies. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

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
  /** What the provider says of it; null if it says nothing. */
  readonly reason: string | null;
  /** Before this time (Unix milliseconds) it takes no request; null if it would. */
  readonly notBefore: number | null;

  constructor(message: string, status: number | null, { reason = null, notBefore = null }: ErrorDetail = {}) {
    super(reason === null ? message : `${message} (${reason})`);
    this.status = status;
    this.reason = reason;
    this.notBefore = notBefore;
  }
}

type ErrorDetail = Partial<Pick<ApiError, "reason" | "notBefore">>;

interface ApiOptions {
  /** Schemes and hosts. A request to another one is refused: it would get the credential. */
  origins: readonly string[];
  send(request: ApiRequest): Promise<RawAnswer>;
  wait(ms: number): Promise<void>;
  now(): number;
}

// GitLab repeats five deliveries in a minute, and GitHub asks for a minute if it does not say how long.
const USUAL_WAIT_MS = MINUTE_MS;
/** A run ends rather than to wait longer. */
const MAX_WAIT_MS = 2 * MINUTE_MS;
const MAX_WAITS = 5;
/** A longer limit is the mistake of a clock. */
const MAX_LIMIT_MS = DAY_MS;
// After a 5xx answer, or a connection that was dropped.
const RETRY_MS = 2000;
const MAX_FAULTS = 2;
const MAX_REDIRECTS = 3;

/**
 * Creates the sender of requests to an API. It waits as the provider asks, and tries again after a 5xx answer or a
 * dropped connection. It follows redirects within the API, which GitHub and GitLab send after a repository or project
 * was renamed.
 */
export function createApi({ origins, send, wait, now }: ApiOptions): SendToApi {
  let lastPacedAt = Number.NEGATIVE_INFINITY;

  async function sendTo(request: ApiRequest, tries: Tries): Promise<ApiAnswer> {
    const name = nameOf(request, origins);
    await keepPace(request.paceMs);
    const answer = await send(request).catch((error: Error) => error);
    if (answer instanceof Error) {
      if (tries.waits >= MAX_FAULTS) throw new ApiError(`${name}: ${answer.message}`, null);
      return sendAfter(RETRY_MS, request, tries);
    }
    if (answer.status >= 200 && answer.status < 300) return read(name, answer);
    const target = redirectOf(request, answer);
    if (target !== null && tries.redirected < MAX_REDIRECTS)
      return sendTo(target, { ...tries, redirected: tries.redirected + 1 });
    const { waitMs, isUnsaid } = waitAfter(name, answer, tries);
    return sendAfter(waitMs, request, { ...tries, unsaid: tries.unsaid + (isUnsaid ? 1 : 0) });
  }

  async function sendAfter(waitMs: number, request: ApiRequest, tries: Tries): Promise<ApiAnswer> {
    await wait(waitMs);
    return sendTo(request, { ...tries, waits: tries.waits + 1 });
  }

  /** How long to wait before a request is sent again. Throws if it is not. */
  function waitAfter(name: string, answer: RawAnswer, tries: Tries): { waitMs: number; isUnsaid: boolean } {
    const { status, text } = answer;
    const reason = reasonOf(status, text) ?? clockFault(answer, now());
    const limit = limitOf(answer, reason, now());
    const isUnsaid = limit === "unsaid";
    const limitMs = limit === "unsaid" ? USUAL_WAIT_MS * 2 ** tries.unsaid : limit;
    const waitMs = limitMs ?? (status >= 500 && tries.waits < MAX_FAULTS ? RETRY_MS : null);
    if (waitMs === null) throw new ApiError(`${name}: the answer was ${status}`, status, { reason });
    if (waitMs <= MAX_WAIT_MS && tries.waits < MAX_WAITS) return { waitMs, isUnsaid };
    const notBefore = now() + Math.min(waitMs, MAX_LIMIT_MS);
    const until = `a rate limit until ${new Date(notBefore).toISOString()}`;
    throw new ApiError(`${name}: the answer was ${status}, ${until}`, status, { reason, notBefore });
  }

  async function keepPace(paceMs = 0): Promise<void> {
    if (paceMs === 0) return;
    const restMs = lastPacedAt + paceMs - now();
    if (restMs > 0) await wait(restMs);
    lastPacedAt = now();
  }

  return (request) => sendTo(request, { waits: 0, unsaid: 0, redirected: 0 });
}

/** Names a request in messages, without its query. Throws if it goes to another host than the API. */
function nameOf(request: ApiRequest, origins: readonly string[]): string {
  const url = new URL(request.url);
  if (!origins.includes(url.origin))
    throw new ApiError(`${url.origin} is not ${origins.join(" or ")}: no request was sent`, null);
  return `${methodOf(request)} ${url.pathname}`;
}

const methodOf = ({ method, body }: ApiRequest) => method ?? (body === undefined ? "GET" : "POST");

function read(name: string, { status, headers, text, isCut }: RawAnswer): ApiAnswer {
  if (isCut) throw new ApiError(`${name}: the answer is longer than ${MAX_ANSWER_BYTES / 1024 ** 2} MiB`, status);
  // Only what is read must be JSON: what repeats a delivery may answer with anything.
  return {
    headers,
    text,
    get json() {
      return text === "" ? undefined : parsed(name, text);
    },
  };
}

/** How often a request was sent again: after a wait, after one of unknown length, and to another URL. */
interface Tries {
  waits: number;
  unsaid: number;
  redirected: number;
}

/** The request that a redirect asks for; null if there is none, or if it would become another request. */
function redirectOf(request: ApiRequest, { status, headers }: RawAnswer): ApiRequest | null {
  const url = URL.parse(headers.location ?? "", request.url);
  const keepsMethod = status === 307 || status === 308 || methodOf(request) === "GET";
  return url !== null && REDIRECTS.includes(status) && keepsMethod ? { ...request, url: url.href } : null;
}

const REDIRECTS: readonly number[] = [301, 302, 307, 308];

/**
 * How long a provider asks to wait, in milliseconds; null if its answer is about something else. GitHub does not always
 * say how long (`unsaid`), and wants that a client waits longer each time
 * (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit).
 */
function limitOf({ status, headers }: RawAnswer, reason: string | null, now: number): number | "unsaid" | null {
  const hasWait = headers["retry-after"] !== undefined;
  const remaining = headers["x-ratelimit-remaining"] ?? headers["ratelimit-remaining"];
  const isOfGithub = status === 403 && (hasWait || remaining === "0" || /rate limit/i.test(reason ?? ""));
  if (status !== 429 && !isOfGithub && !(status === 503 && hasWait)) return null;
  const after = readRetryAfter(headers["retry-after"], now);
  if (after !== undefined) return after;
  // With requests left, it is another limit than the one that is reset then.
  const reset = remaining === "0" ? Number(headers["x-ratelimit-reset"] ?? headers["ratelimit-reset"]) : 0;
  return reset > 0 ? Math.max(1000, reset * 1000 - now) : "unsaid";
}

// A token that this machine has signed may be dated back as far (https://github.com/octokit/auth-app.js/issues/698).
const CLOCK_TOLERANCE_MS = MINUTE_MS;

/** Why a credential may be refused that depends on the time; null if the clocks agree. */
function clockFault({ status, headers }: RawAnswer, now: number): string | null {
  const aheadMs = now - Date.parse(headers.date ?? "");
  if (status !== 401 || !(Math.abs(aheadMs) > CLOCK_TOLERANCE_MS)) return null;
  const how = `${durationText(Math.abs(aheadMs))} ${aheadMs > 0 ? "ahead of" : "behind"}`;
  return `the clock of this machine is ${how} the provider's`;
}

// A longer text is no reason.
const MAX_REASON_LENGTH = 200;

/** What an answer says of a failure; null if nothing. That of 401 is left out: it may show a part of the credential. */
function reasonOf(status: number, text: string): string | null {
  if (status === 401) return null;
  try {
    const answer: unknown = JSON.parse(text);
    const said = [answer, memberOf(answer, "error"), memberOf(answer, "message")]
      .flatMap((part) => [part, ...REASONS.map((name) => memberOf(part, name))])
      .find((part) => typeof part === "string" && part !== "");
    return said === undefined ? null : printable(String(said)).slice(0, MAX_REASON_LENGTH);
  } catch {
    return null;
  }
}

/** Where GitHub, GitLab, PayPal, Stripe and Svix say what is wrong. */
const REASONS = ["message", "detail", "error_description", "error"];

/** A page of 100 events may have a hundred times what one has. */
const MOST = { names: 100_000, values: 1_000_000 };

function parsed(name: string, text: string): unknown {
  if (unreadShapeOf(text, MOST) !== null)
    throw new ApiError(`${name}: the answer has too many levels, names or values`, 200);
  try {
    // Calling a function for each value takes several times the memory.
    return LARGE_NUMBER.test(text) ? JSON.parse(text, withDigits) : JSON.parse(text);
  } catch {
    throw new ApiError(`${name}: the answer is no JSON`, 200);
  }
}

/** A number that may be larger than JavaScript can hold: its 16th digit. */
const LARGE_NUMBER = /[0-9]{16}/;

/** GitHub's ids of deliveries may be larger than JavaScript can hold. */
function withDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  const isTooLarge = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isTooLarge ? (context?.source ?? value) : value;
}
