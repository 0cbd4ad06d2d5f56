import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { text } from "node:stream/consumers";

export interface Question {
  url: string;
  /** It is a server of this machine: its certificate is for the name that clients use, which is not this address. */
  isOurs: boolean;
  timeoutMs: number;
  /** Sent as JSON by POST; without it the question is a GET. */
  body?: string;
  headers?: Record<string, string>;
}

/** Asks a server and reads its answer. Throws when there is none. With Node's client, for `fetch` refuses some ports. */
export function ask({ url, isOurs, timeoutMs, body, headers }: Question): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "Content-Type": "application/json", ...headers },
      signal: AbortSignal.timeout(timeoutMs),
    };
    const request = url.startsWith("https:")
      ? requestHttps(url, { ...options, rejectUnauthorized: !isOurs })
      : requestHttp(url, options);
    request.on("response", (response) => {
      text(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    request.on("error", (error) => reject(error.name === "AbortError" ? new Error("no answer in time") : error));
    request.end(body);
  });
}
