import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export interface OutgoingRequest {
  url: string;
  /** The server is on this machine. Its certificate is not verified: it names the public host, not this address. */
  isLocal: boolean;
  timeoutMs: number;
  signal?: AbortSignal;
  /** The body of a POST, JSON unless the headers say otherwise. Without it, the request is a GET. */
  body?: string | Uint8Array;
  headers?: Record<string, string>;
}

// Of a longer answer only the beginning is read.
const MAX_ANSWER_BYTES = 256 * 1024;

/** Sends a request and reads the response. Throws when there is none. Uses Node's client, because `fetch` blocks some ports. */
export function sendRequest({
  url,
  isLocal,
  timeoutMs,
  signal = NEVER,
  body,
  headers,
}: OutgoingRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "content-type": "application/json", ...headers },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    };
    const request = url.startsWith("https:")
      ? requestHttps(url, { ...options, rejectUnauthorized: !isLocal })
      : requestHttp(url, options);
    request.on("response", (response) => {
      textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    request.on("error", (error) => reject(error.name === "AbortError" ? new Error("no response in time") : error));
    request.end(body);
  });
}

const NEVER = new AbortController().signal;

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString();
}
