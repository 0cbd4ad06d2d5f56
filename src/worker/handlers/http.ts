import type { EventHandler } from "../run-event.ts";

/**
 * Forwards each event to a URL: its raw bytes and content type, with its identity in headers. Any 2xx answer is success.
 * Redirects are not followed: they would carry the payload to a place nobody configured.
 */
export function createHttpHandler(url: string): EventHandler {
  return async (event, signal) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": event.contentType,
        "User-Agent": "authserve",
        "Idempotency-Key": headerSafe(event.eventId),
        "X-Event-Id": headerSafe(event.eventId),
        "X-Event-Type": headerSafe(event.type),
        "X-Event-Source": event.source,
        "X-Attempt": String(event.attempt),
      },
      body: Buffer.from(event.payload),
      redirect: "manual",
      signal,
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the target answered ${response.status}`);
  };
}

/** Header values are printable ASCII. Any other id is percent-encoded, and so is one with a percent sign: keys stay unique. */
function headerSafe(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) && !text.includes("%") ? text : encodeURIComponent(text.toWellFormed());
}
