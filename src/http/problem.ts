import { STATUS_CODES } from "node:http";
import { AppError, type ErrorCode, PROBLEMS } from "../errors.ts";

/** A response before it is written. A body of text or bytes is sent unchanged, any other value as JSON. */
export interface Reply {
  status: number;
  body: unknown;
  headers?: Record<string, string | string[]>;
}

/**
 * Turns an error into its RFC 9457 response. An error other than {@link AppError} becomes `internal_error`, without
 * details.
 */
export function problem(error: unknown, requestId: string): Reply & { code: ErrorCode } {
  const known = error instanceof AppError ? error : new AppError("internal_error");
  const { status } = known;
  const { detail } = PROBLEMS[known.code];
  return {
    code: known.code,
    status,
    body: {
      type: "about:blank",
      title: STATUS_CODES[status],
      status,
      detail,
      code: known.code,
      requestId,
      ...(known.errors ? { errors: known.errors } : {}),
      ...known.members,
    },
    headers: {
      "Content-Type": "application/problem+json",
      // Every 401 names a scheme (RFC 9110, 15.5.2).
      ...(status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
      ...(known.retryAfterSeconds === undefined ? {} : { "Retry-After": String(known.retryAfterSeconds) }),
      ...known.headers,
    },
  };
}
