import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { ADDRESS_TIMEOUT_MS } from "./outgoing.ts";
import { trustSystemAuthorities } from "./system-authorities.ts";

interface OutgoingRequest {
  url: string;
  /** The server is on this machine. Its certificate is not verified: it names the public host, not this address. */
  isLocal: boolean;
  timeoutMs: number;
  signal?: AbortSignal;
  /** The method. Default: POST with a body, else GET. */
  method?: string;
  /** The body, JSON unless the headers say otherwise. */
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  /** Of a longer response only the beginning is read. */
  maxBytes?: number;
}

/** A response. `isCut` if it was longer than was read. */
interface Response {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  isCut: boolean;
}

const MAX_RESPONSE_BYTES = 256 * 1024;

/**
 * Sends a request and reads the response. Throws when there is none. Uses Node's client, because `fetch` blocks some
 * ports.
 */
export function sendRequest({
  url,
  isLocal,
  timeoutMs,
  signal = NEVER,
  body,
  method = body === undefined ? "GET" : "POST",
  headers,
  maxBytes = MAX_RESPONSE_BYTES,
}: OutgoingRequest): Promise<Response> {
  const isTls = url.startsWith("https:");
  if (isTls && !isLocal) trustSystemAuthorities();
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      // A proxy of the environment does not reach this machine.
      ...(isLocal && { agent: false as const }),
    };
    const request = isTls ? requestHttps(url, { ...options, rejectUnauthorized: !isLocal }) : requestHttp(url, options);
    const fail = (error: Error) => reject(error.name === "AbortError" ? new Error("no response in time") : error);
    request.on("response", (response) => {
      const { statusCode: status = 0, headers } = response;
      contentOf(response, maxBytes).then((content) => resolve({ status, headers, ...content }), fail);
    });
    request.on("error", fail);
    request.end(body);
  });
}

const NEVER = new AbortController().signal;

async function contentOf(response: IncomingMessage, maxBytes: number): Promise<Omit<Response, "status" | "headers">> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  return { text: Buffer.concat(chunks).subarray(0, maxBytes).toString(), isCut: bytes > maxBytes };
}
