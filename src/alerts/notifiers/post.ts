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
  /** Reads an answer of an API that says more than its status. Null: the message was taken. */
  refusalIn?: (answer: string) => { why: string; retryAfterMs?: number | undefined } | null;
}

/** Sends a message. Throws {@link NotifierError} unless the answer is a 2xx, and says no otherwise. */
export async function post(
  { url, body, headers, refusalIn = () => null }: Post,
  signal: AbortSignal,
  now: () => number,
): Promise<void> {
  const sent = {
    url,
    isLocal: false,
    timeoutMs: TIMEOUT_MS,
    signal,
    body,
    headers: { "user-agent": "authserve", ...headers },
  };
  const answer = await sendRequest(sent).catch((error: unknown) => {
    throw new NotifierError(`no answer (${describeError(error)})`);
  });
  const refusal = refusalIn(answer.text);
  if (answer.status >= 200 && answer.status < 300 && refusal === null) return;
  throw new NotifierError(`the answer was ${answer.status}${refusal === null ? "" : ` (${refusal.why})`}`, {
    retryAfterMs: refusal?.retryAfterMs ?? readRetryAfter(answer.headers["retry-after"], now()),
  });
}
