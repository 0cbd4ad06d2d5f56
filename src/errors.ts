/** Messages that clients rely on word for word. */
const INVALID_CREDENTIALS = "Credenciales inválidas";
const SESSION_INVALIDATED = "Sesión invalidada. Inicia sesión de nuevo.";
const UNAUTHORIZED = "Unauthorized";

/**
 * Every error a client can meet: its HTTP status, the sentence it reads, and for the reference when it comes.
 * The only place where a code gets a status.
 */
export const PROBLEMS = {
  bad_request: {
    status: 400,
    detail: "The request is not valid HTTP",
    when: "The request is not valid HTTP, or its `Host` header is missing in HTTP/1.1, repeated or malformed.",
  },
  malformed_json: {
    status: 400,
    detail: "The body is not strict JSON",
    when: "A login body is not JSON in UTF-8, begins with a byte order mark, repeats a member name, or is nested deeper than 64 levels.",
  },
  validation_failed: {
    status: 400,
    detail: "The body does not have the declared shape",
    when: "A member of a login is missing, unknown or invalid. `errors` names it. Or a request under `/auth` has a body where none is accepted.",
  },
  invalid_payload: {
    status: 400,
    detail: "The event payload is not valid",
    when: "A signed delivery is not a JSON object, or not strict JSON as for `malformed_json`. Or its Stripe or OpenAI envelope is incomplete, its id exceeds 512 characters, or its type 256.",
  },
  invalid_credentials: {
    status: 401,
    detail: INVALID_CREDENTIALS,
    when: "The e-mail is unknown or the password is wrong.",
  },
  missing_token: {
    status: 401,
    detail: UNAUTHORIZED,
    when: "The request has no Bearer token.",
  },
  invalid_token: {
    status: 401,
    detail: UNAUTHORIZED,
    when: "The token is malformed, over 4 KiB, wrongly signed, expired or issued in the future, or names another e-mail than `DEMO_EMAIL`.",
  },
  session_invalidated: {
    status: 401,
    detail: SESSION_INVALIDATED,
    when: "The token is genuine, but its session was replaced by a new login, ended or expired.",
  },
  address_not_allowed: {
    status: 403,
    detail: "This address may not deliver here",
    when: "The client is not in `WEBHOOK_ALLOWED_ADDRESSES`.",
  },
  signature_mismatch: {
    status: 403,
    detail: "No valid signature was found for this body",
    when: "The delivery has no valid signature, or its timestamp is more than 5 minutes off.",
  },
  not_found: {
    status: 404,
    detail: "There is nothing at this path",
    when: "No route has this path, which must match to the letter. `/metrics` is not found by clients outside of `METRICS_ALLOWED_ADDRESSES`.",
  },
  method_not_allowed: {
    status: 405,
    detail: "This path does not answer that method",
    when: "The route does not take this method. `Allow` lists those that it takes.",
  },
  request_timeout: {
    status: 408,
    detail: "The request did not arrive in time",
    when: "The headers took more than 10 seconds to arrive, or the whole request more than 30.",
  },
  payload_too_large: {
    status: 413,
    detail: "The body is larger than this path accepts",
    when: "The body exceeds 16 KiB at login, `WEBHOOK_BODY_LIMIT` at the webhook, or 1 KiB elsewhere under `/auth`.",
  },
  unsupported_media_type: {
    status: 415,
    detail: "Send application/json in UTF-8 without Content-Encoding",
    when: "The `Content-Type` is not `application/json` in UTF-8, or there is a `Content-Encoding`.",
  },
  too_many_attempts: {
    status: 429,
    detail: "Too many failed logins; wait and try again",
    when: "Within 5 minutes there were 10 failed logins at one e-mail from one address (or IPv6 /64), 50 from one address, or 100 at one e-mail. An address that logged in during the last 30 days is exempt from the last limit. `Retry-After` says how long to wait.",
  },
  headers_too_large: {
    status: 431,
    detail: "The request headers are too large",
    when: "The headers exceed 16 KiB, or there are more than 100 of them.",
  },
  internal_error: {
    status: 500,
    detail: "The request could not be completed",
    when: "The server has a defect. The log line `request_failed` with the `requestId` has the stack.",
  },
  login_busy: {
    status: 503,
    detail: "Too many logins are under way; try again",
    when: "256 logins wait for a password check, or 128 from one address (or IPv6 /64). Addresses that logged in during the last 30 days have 256 places of their own.",
  },
  queue_full: {
    status: 503,
    detail: "The intake queue is full; deliver again later",
    when: "`WEBHOOK_QUEUE_LIMIT` deliveries, or 64 MiB of them, wait for the disk. Or bodies over 64 KiB that are still arriving take 64 MiB, or 16 MiB from one address (or IPv6 /64).",
  },
  store_unavailable: {
    status: 503,
    detail: "Storage is not available; try again later",
    when: "The disk or Redis is down, full or too slow.",
  },
} as const satisfies Record<string, { status: number; detail: string; when: string }>;

export type ErrorCode = keyof typeof PROBLEMS;

export interface FieldError {
  path: string;
  message: string;
}

interface AppErrorOptions {
  /** Seconds until a new try makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number | undefined;
  errors?: FieldError[] | undefined;
  /** Further members of the problem (RFC 9457, 3.2), for whoever may see this error. */
  members?: Record<string, unknown> | undefined;
  headers?: Record<string, string>;
  /** Says more to whoever reads the log, in a stable word; the client is not told. */
  reason?: string;
  cause?: unknown;
}

/** An error with a stable code. Logic throws it; `http/problem.ts` turns it into an answer. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly errors: FieldError[] | undefined;
  readonly members: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;
  readonly reason: string | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(code, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.errors = options.errors;
    this.members = options.members;
    this.headers = options.headers;
    this.reason = options.reason;
  }
}

/** A problem the operator can mend: bad settings, a port in use. The command prints its message and exits with its code. */
export class OperatorError extends Error {
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 2) {
    super(message);
    this.name = "OperatorError";
    this.exitCode = exitCode;
  }
}

/** Something that is wrong, and what to do about it. */
export interface Fault {
  found: string;
  remedy: string;
}

/** Settings that cannot be used. The message tells each fault with its remedy, and never a value. */
export class SettingsError extends OperatorError {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    const sentences = faults.map(({ found, remedy }) => `${found}: ${remedy}`);
    super(
      sentences.length === 1 ? String(sentences[0]) : ["These settings are not usable:", ...sentences].join("\n  "),
    );
    this.name = "SettingsError";
    this.faults = faults;
  }
}

/** The system's code of an error, e.g. ENOENT. */
export function systemCode(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}

/** The exit code of a failure: 1 for what may pass by itself, so that a supervisor starts the server again, else 2. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return /^(?:ENOSPC|EDQUOT|SQLITE_(?:FULL|IOERR|BUSY|NOMEM))/.test(systemCode(error)) ? 1 : 2;
}

const MAX_CAUSES = 5;

/** One line about a thrown value of any kind: its message and the messages of its causes, without a stack. Never throws. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let current = error; parts.length < MAX_CAUSES && current !== undefined; ) {
    parts.push(describeOne(current));
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts
    .join(": ")
    .trim()
    .replace(/[\r\n]+\s*/g, " ");
}

function describeOne(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    // Node adds advice that only who starts Node can follow.
    const message = messageOf(error).replace(/; if the root CA is installed locally, try running Node\.js .*$/, "");
    const code = "code" in error && typeof error.code === "string" ? error.code : "";
    if (code === "" || `${message}: `.startsWith(`${code}: `)) return message;
    return message === "" ? code : `${code}: ${message}`;
  } catch {
    return "a value without a description was thrown";
  }
}

/** Where a name has several addresses, Node gathers what went wrong with each, under no message. */
function messageOf(error: Error): string {
  const message = String(error.message);
  if (message !== "" || !(error instanceof AggregateError)) return message;
  const members = error.errors.filter((member) => !(member instanceof AggregateError));
  return members.slice(0, MAX_CAUSES).map(describeOne).join("; ");
}
