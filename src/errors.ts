/** Clients compare these messages word for word. */
const INVALID_CREDENTIALS = "Credenciales inválidas";
const SESSION_INVALIDATED = "Sesión invalidada. Inicia sesión de nuevo.";
const UNAUTHORIZED = "Unauthorized";

/**
 * Every error that a client can get: its HTTP status, its `detail`, and for the reference when it occurs.
 * A code gets its status only here, unless the provider of a source needs another.
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
    when: "The body of a login, or of a change under `/admin/api`, is not JSON in UTF-8, begins with a byte order mark, repeats a member name, or is nested deeper than 64 levels.",
  },
  validation_failed: {
    status: 400,
    detail: "The body does not have the declared shape",
    when: "A member of a login, or of the body or query of a request under `/admin/api`, is missing, unknown, repeated or invalid. `errors` names it. Or another request under `/auth` has a body. Or the request of a handshake has no valid challenge.",
  },
  invalid_payload: {
    status: 400,
    detail: "The event payload is not valid",
    when: "A signed JSON delivery is not strict JSON as for `malformed_json`. Or a delivery cannot be decoded from its `Content-Encoding`. Or, at the source `default`, it is no object, or its Stripe or OpenAI envelope is incomplete. Or its id exceeds 512 characters, or its type 256. Or its source has `redact`, and the body is neither JSON nor an urlencoded form.",
  },
  invalid_credentials: {
    status: 401,
    detail: INVALID_CREDENTIALS,
    when: "The e-mail is unknown or the password is wrong.",
  },
  second_factor_required: {
    status: 401,
    detail: "The password is right, and a second factor is needed",
    when: "The user has a second factor, and the e-mail and the password are right. `POST /auth/login/code` takes them with a code.",
  },
  invalid_code: {
    status: 401,
    detail: "The code is wrong, or was used before",
    when: "The e-mail and the password are right, and the code is no current one of the authenticator app and no recovery code that is left.",
  },
  invalid_passkey: {
    status: 401,
    detail: "The passkey was refused",
    when: "The answer of a passkey is not genuine: it is unknown, of another site, without verification of its user, used before, or a copy. The login page shows it; the log says why.",
  },
  missing_token: {
    status: 401,
    detail: UNAUTHORIZED,
    when: "The request has neither a Bearer token nor the cookie of the login page.",
  },
  invalid_token: {
    status: 401,
    detail: UNAUTHORIZED,
    when: "The token is malformed, over 4 KiB, wrongly signed, expired or issued in the future, or names another e-mail than `DEMO_EMAIL`. Or the token of a program (`ask_…`) is unknown, expired or revoked, or was sent to an endpoint of the session.",
  },
  session_invalidated: {
    status: 401,
    detail: SESSION_INVALIDATED,
    when: "The token is genuine, but its session was replaced by a new login, ended or expired.",
  },
  device_not_proved: {
    status: 401,
    detail: "This session is bound to a device, which the request does not prove",
    when: "The token is genuine and its session lives, but the session is bound to a device, and the cookie that proves the device is missing or over. Open the page again in the browser that logged in, or log in again.",
  },
  invalid_device_proof: {
    status: 403,
    detail: "The device has not proved itself",
    when: "A browser registers a device, or proves it, without an answer that is signed by its key and current. To a proof the response has a new challenge. The log says what was wrong.",
  },
  session_not_bound: {
    status: 403,
    detail: "This needs a session that is bound to a device",
    when: "An entry of `access` has `bound: true`, and the session is not bound to a device, or the request does not prove it.",
  },
  address_not_allowed: {
    status: 403,
    detail: "This address may not deliver here",
    when: "The client is not in `WEBHOOK_ALLOWED_ADDRESSES`, or not in `allowedAddresses` of the source.",
  },
  insufficient_scope: {
    status: 403,
    detail: "The token lacks the scope that this needs",
    when: "The token of a program is genuine, but has no scope that is enough. `WWW-Authenticate` names the one that is, if there is one.",
  },
  access_denied: {
    status: 403,
    detail: "Access to this is not allowed",
    when: "An entry of `access` in the configuration file lets nobody pass, or no token of a program.",
  },
  owner_only: {
    status: 403,
    detail: "This belongs to an owner of the server",
    when: "Somebody of `people` who is no owner has asked for the admin page or its API, or a token of such a person. `/account` is for everybody.",
  },
  cross_site_request: {
    status: 403,
    detail: "Requests from other sites are refused",
    when: "A browser sent a form or a request with the cookie from another site (`Sec-Fetch-Site`, `Origin`).",
  },
  signature_mismatch: {
    status: 403,
    detail: "No valid signature was found for this body",
    when: "The delivery has no valid signature, or its timestamp is too far off: 5 minutes unless the source says otherwise. Or the token of a handshake is wrong. Sources with `basic`, and [some presets](presets.md#what-refused-deliveries-get), get 401.",
  },
  event_erased: {
    status: 410,
    detail: "The content of this event was erased",
    when: "The payload of an erased event is asked for. Its identity, and when and why it was erased, are still shown.",
  },
  not_found: {
    status: 404,
    detail: "There is nothing at this path",
    when: "No route has exactly this path. `/metrics` also answers this to clients outside of `METRICS_ALLOWED_ADDRESSES`, and the handshake `match-query` to a wrong code.",
  },
  ambiguous_event: {
    status: 409,
    detail: "Several sources have an event with this id",
    when: "A request under `/admin/api` names an event by an id that several sources have. `?source=` chooses one.",
  },
  method_not_allowed: {
    status: 405,
    detail: "This path does not answer that method",
    when: "The route does not support this method. `Allow` lists its methods.",
  },
  unknown_host: {
    status: 421,
    detail: "This service does not answer under this name; set PUBLIC_URL or ALLOWED_HOSTS",
    when: "`Host` is not a name of this service: see [Security](../security.md). Deliveries, `/healthz` and `/readyz` answer under any name.",
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
    detail: "This path does not accept the Content-Type or the Content-Encoding",
    when: "The `Content-Type` is not `application/json` in UTF-8, or not one that the source accepts. Or there is a `Content-Encoding` that the source does not accept. `Accept-Post` lists the accepted types, and `Accept-Encoding` the accepted encodings.",
  },
  too_many_attempts: {
    status: 429,
    detail: "Too many failed logins; wait and try again",
    when: "Within 5 minutes there were 10 failed logins at one e-mail from one address (or IPv6 /64), 20 from one IPv6 /56, 30 from one IPv6 /48, or 100 from all. Or there were 50 from one address. Of an address, and of a browser, that logged in during the last 30 days only its own failures count. `Retry-After` says how long to wait.",
  },
  too_many_wrong_tokens: {
    status: 429,
    detail: "Too many wrong tokens came from this address; wait and try again",
    when: "Within 5 minutes 50 wrong tokens of programs came from this address (or IPv6 /64). Tokens that were right at this server before still count. `Retry-After` says how long to wait. `/auth/verify` answers 401 instead.",
  },
  too_many_deliveries: {
    status: 429,
    detail: "More deliveries came than the source takes; send this one again later",
    when: "The deliveries of the source are above its `rate`. `Retry-After` says how long to wait. See [Bound the rate](../receive-webhooks.md#bound-the-rate).",
  },
  headers_too_large: {
    status: 431,
    detail: "The request headers are too large",
    when: "The headers exceed 16 KiB besides cookies, or 48 KiB with them, or there are more than 100 of them.",
  },
  internal_error: {
    status: 500,
    detail: "The request could not be completed",
    when: "The server has a defect. The log line `request_failed` with the `requestId` has the stack.",
  },
  login_busy: {
    status: 503,
    detail: "Too many logins are under way; try again",
    when: "256 logins wait for a password check, or 128 from one address (or IPv6 /64). Addresses and browsers that logged in during the last 30 days have a queue of 256 of their own.",
  },
  intake_paused: {
    status: 503,
    detail: "Deliveries are paused; deliver again later",
    when: "Less disk space than `MIN_FREE_DISK` is free, or the oldest queued event is older than `MAX_QUEUE_AGE`. Or a list in `allowedAddresses` of the source, which may have the address, or the keys that its sender publishes, have never been read. Or a subscription of Amazon SNS could not be confirmed yet. Deliveries are accepted again by themselves.",
  },
  encryption_key_missing: {
    status: 503,
    detail: "The payload is encrypted with a key that the server does not have",
    when: "`ENCRYPTION_KEYS` lacks the key of an event. The log and `authserve doctor` name it.",
  },
  signing_key_unreadable: {
    status: 503,
    detail: "The key that signs tokens for apps cannot be read",
    when: "`ENCRYPTION_KEYS` lacks the key that it is encrypted with. The log and `authserve doctor` name it. Add its file, or if that is lost, run `authserve keys rotate --at-once`.",
  },
  queue_full: {
    status: 503,
    detail: "The intake queue is full; deliver again later",
    when: "`WEBHOOK_QUEUE_LIMIT` deliveries, or 64 MiB of them, wait for the disk. Or bodies over 64 KiB that are still arriving take 64 MiB, or 16 MiB from one address (or IPv6 /64).",
  },
  store_unavailable: {
    status: 503,
    detail: "Storage is not available; try again later",
    when: "The disk, PostgreSQL or Redis is down, full or too slow.",
  },
} as const satisfies Record<string, { status: number; detail: string; when: string }>;

export type ErrorCode = keyof typeof PROBLEMS;

export interface FieldError {
  path: string;
  message: string;
}

interface AppErrorOptions {
  /** Replaces the status of the code. */
  status?: 401 | undefined;
  /** Sent as `Retry-After`. */
  retryAfterSeconds?: number | undefined;
  errors?: FieldError[] | undefined;
  /** Extension members of the problem (RFC 9457, 3.2). */
  members?: Record<string, unknown> | undefined;
  headers?: Record<string, string>;
  /** A stable word for the log. It is not sent to the client. */
  reason?: string | undefined;
  /** What the request has instead of what is expected, for the log. Never anything that may be secret. */
  sent?: string | undefined;
  cause?: unknown;
}

/** An error with a stable code. Logic throws it, and `http/problem.ts` turns it into a response. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly errors: FieldError[] | undefined;
  readonly members: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;
  readonly reason: string | undefined;
  readonly sent: string | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(code, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.status = options.status ?? PROBLEMS[code].status;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.errors = options.errors;
    this.members = options.members;
    this.headers = options.headers;
    this.reason = options.reason;
    this.sent = options.sent;
  }
}

/** The error for a request whose member, parameter or field at a path is not usable. */
export const fieldError = (path: string, message: string) =>
  new AppError("validation_failed", { errors: [{ path, message }] });

/** Something that is wrong, and what to do about it. */
export interface Fault {
  found: string;
  remedy: string;
}

/** A fault in one line, for logs. */
export function faultText({ found, remedy }: Fault): string {
  return `${found}: ${remedy}`;
}

/**
 * A problem that the operator can solve, such as bad settings or a port in use. The command line prints it and exits
 * with `exitCode`. The message of a fault is "found: remedy".
 */
export class OperatorError extends Error {
  readonly exitCode: 1 | 2;
  readonly fault: Fault | undefined;

  constructor(problem: string | Fault, exitCode: 1 | 2 = 2) {
    super(typeof problem === "string" ? problem : faultText(problem));
    this.name = "OperatorError";
    this.exitCode = exitCode;
    this.fault = typeof problem === "string" ? undefined : problem;
  }
}

/** No server has used this database yet. */
export class NoSchemaError extends OperatorError {}

/** Settings that cannot be used. The message lists each fault with its remedy, and never a value. */
export class SettingsError extends OperatorError {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    const sentences = faults.map(faultText);
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

/** The exit code of a failure: 1 if it may be temporary, so that a supervisor restarts the server, else 2. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return /^(?:ENOSPC|EDQUOT|SQLITE_(?:FULL|IOERR|BUSY|NOMEM))/.test(systemCode(error)) ? 1 : 2;
}

const MAX_CAUSES = 5;

/** Describes any thrown value in one line: its message and those of its causes, without a stack. Never throws. */
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
    // Node adds advice about its own command line, which users of authserve do not see.
    const message = messageOf(error).replace(/; if the root CA is installed locally, try running Node\.js .*$/, "");
    const code = "code" in error && typeof error.code === "string" ? error.code : "";
    if (code === "" || `${message}: `.startsWith(`${code}: `)) return message;
    return message === "" ? code : `${code}: ${message}`;
  } catch {
    return "a value without a description was thrown";
  }
}

/**
 * If a host name has several addresses, Node throws an AggregateError without a message: one error for each address.
 */
function messageOf(error: Error): string {
  const message = String(error.message);
  if (message !== "" || !(error instanceof AggregateError)) return message;
  const members = error.errors.filter((member) => !(member instanceof AggregateError));
  return members.slice(0, MAX_CAUSES).map(describeOne).join("; ");
}
