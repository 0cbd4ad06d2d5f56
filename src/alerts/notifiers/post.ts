import { describeError } from "../../errors.ts";
import { readRetryAfter } from "../../lib/retry-after.ts";
import { sendRequest } from "../../lib/send-request.ts";
import { NotifierError } from "./notifier-error.ts";

export const TIMEOUT_MS = 10_000;

/** A request that brings a message. Its body is JSON unless the headers say otherwise. */
export interface Post {
  url: string;
  body: string;
  headers?: Record<string, string>;
}

/** Sends a message. Throws {@link NotifierError} unless the answer is a 2xx. */
export async function post({ url, body, headers }: Post, signal: AbortSignal, now: () => number): Promise<void> {
  const sent = {
    url,
    isLocal: false,
    timeoutMs: TIMEOUT_MS,
    signal,
    body,
    headers: { "user-agent": "authserve", ...headers },
  };
  const { status, headers: answered } = await sendRequest(sent).catch((error: unknown) => {
    throw new NotifierError(`no answer (${describeError(error)})`);
  });
  if (status >= 200 && status < 300) return;
  throw new NotifierError(`the answer was ${status}`, {
    retryAfterMs: readRetryAfter(answered["retry-after"], now()),
  });
}
