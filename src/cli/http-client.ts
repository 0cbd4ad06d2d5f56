import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { text } from "node:stream/consumers";

export interface OutgoingRequest {
  url: string;
  /** The server is on this machine. Its certificate is not verified: it names the public host, not this address. */
  isLocal: boolean;
  timeoutMs: number;
  /** The body of a POST, JSON unless the headers say otherwise. Without it, the request is a GET. */
  body?: string | Uint8Array;
  headers?: Record<string, string>;
}

/** Sends a request and reads the response. Throws when there is none. Uses Node's client, because `fetch` blocks some ports. */
export function sendRequest({
  url,
  isLocal,
  timeoutMs,
  body,
  headers,
}: OutgoingRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "content-type": "application/json", ...headers },
      signal: AbortSignal.timeout(timeoutMs),
    };
    const request = url.startsWith("https:")
      ? requestHttps(url, { ...options, rejectUnauthorized: !isLocal })
      : requestHttp(url, options);
    request.on("response", (response) => {
      text(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    request.on("error", (error) => reject(error.name === "AbortError" ? new Error("no response in time") : error));
    request.end(body);
  });
}
