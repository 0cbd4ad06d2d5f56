import { describeError } from "../../errors.ts";
import { sendRequest } from "../../lib/send-request.ts";

export const TIMEOUT_MS = 10_000;

/** A request that brings a message. Its body is JSON unless the headers say otherwise. */
export interface Post {
  url: string;
  body: string;
  headers?: Record<string, string>;
}

/** Sends a message. Throws with a text for people unless the answer is a 2xx. */
export async function post({ url, body, headers }: Post, signal: AbortSignal): Promise<void> {
  const sent = {
    url,
    isLocal: false,
    timeoutMs: TIMEOUT_MS,
    signal,
    body,
    headers: { "user-agent": "authserve", ...headers },
  };
  const { status } = await sendRequest(sent).catch((error: unknown) => {
    throw new Error(`no answer (${describeError(error)})`);
  });
  if (status < 200 || status >= 300) throw new Error(`the answer was ${status}`);
}
