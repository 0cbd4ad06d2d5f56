import type { IncomingHttpHeaders } from "node:http";

/**
 * The headers in which a trusted proxy says what it received. Each file in `deploy/` sets or removes every one of them:
 * otherwise a client could choose it.
 */
export const BELIEVED_HEADERS = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-method",
  "x-forwarded-prefix",
  "x-forwarded-proto",
  "x-forwarded-uri",
  "x-original-method",
  "x-original-url",
] as const;

/** The value of one of these headers. Only those of a trusted proxy may be used. */
export function believed(headers: IncomingHttpHeaders, name: (typeof BELIEVED_HEADERS)[number]): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}
