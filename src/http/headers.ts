/** All values of a header as sent, from Node's flat list of names and values. `name` is in lower case. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] as string;
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[i + 1] as string);
  }
  return values;
}

/** Sent with every response over TLS: one year. */
const HSTS = "max-age=31536000";

/** The headers of every response, in a new object that the caller may add to. */
export function commonHeaders(requestId: string, isTls: boolean): Record<string, string> {
  const headers: Record<string, string> = {
    "X-Request-ID": requestId,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  };
  if (isTls) headers["Strict-Transport-Security"] = HSTS;
  return headers;
}
