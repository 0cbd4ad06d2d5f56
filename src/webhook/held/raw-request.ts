import type { IncomingHttpHeaders } from "node:http";
import { trimSpace } from "../../lib/header-value.ts";
import { isInQuery } from "../content/body.ts";
import type { HeldDelivery } from "./held-store.ts";

/** An HTTP request as it was captured. */
export interface RawRequest {
  method: string;
  target: string;
  /** Names in lower case. Values of one name are joined by commas. Each character is one byte. */
  headers: Record<string, string>;
  /** Names and values in turn, as they were sent. */
  rawHeaders: string[];
  body: Buffer;
  /** Bytes that `Content-Length` announces and that are not there. */
  missingBytes: number;
}

/** The address that a delivery was sent to. */
export interface SentTo {
  /** Scheme and host as the sender wrote them. */
  origin: string;
  target: string;
  /** The user and password in the address, as a client sends them in `Authorization`. */
  authorization?: string;
}

/**
 * The address that the sender wrote: the given one, else that of the request if it is whole. Null if it is no HTTP or
 * HTTPS URL.
 */
export function sentToOf({ target }: RawRequest, url: string | undefined): SentTo | null | undefined {
  const address = url ?? (/^https?:/i.test(target) ? target : undefined);
  if (address === undefined) return undefined;
  // Not from a URL object, which would change some characters.
  const [, scheme, user, host, rest = ""] =
    /^(https?:\/\/)(?:([^/?#]*)@)?([^/?#@]+)((?:[/?][^#]*)?)(?=#|$)/i.exec(address) ?? [];
  if (scheme === undefined) return null;
  const sentTo = { origin: `${scheme}${host}`, target: rest.startsWith("/") ? rest : `/${rest}` };
  return user === undefined ? sentTo : { ...sentTo, authorization: basicOf(user) };
}

function basicOf(user: string): string {
  const [name = "", password = ""] = user.split(/:(.*)/s, 2).map(decodedPart);
  return `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}

function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A request with the user and password of the address that it was sent to, unless it has some. */
export function withUserOf(raw: RawRequest, { authorization }: Partial<SentTo> = {}): RawRequest {
  if (authorization === undefined || raw.headers.authorization !== undefined) return raw;
  return {
    ...raw,
    headers: { ...raw.headers, authorization },
    rawHeaders: [...raw.rawHeaders, "Authorization", authorization],
  };
}

/**
 * Parses a raw HTTP request, with LF or CRLF. The body is `Content-Length` bytes, else all after the blank line.
 * Returns what is wrong, with its line, if it is none.
 */
export function parseRawRequest(bytes: Buffer): RawRequest | string {
  const text = bytes.toString("latin1");
  const blank = /\r?\n\r?\n/.exec(text);
  const head = blank ? text.slice(0, blank.index) : text.replace(/\r?\n$/, "");
  const [requestLine = "", ...lines] = head.split(/\r?\n/);
  const [, method = "", target = ""] = /^([A-Za-z]+) (\S+)(?: HTTP\/[0-9.]+)?$/.exec(requestLine) ?? [];
  if (method === "") return "line 1 is no request line such as POST /webhook HTTP/1.1";
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  for (const [index, line] of lines.entries()) {
    const [, name, sent = ""] = /^([^\s:]+):(.*)$/.exec(line) ?? [];
    if (name === undefined) return `line ${index + 2} is no header such as Content-Type: application/json`;
    const value = trimSpace(sent);
    const key = name.toLowerCase();
    rawHeaders.push(name, value);
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  const rest = blank ? bytes.subarray(blank.index + blank[0].length) : Buffer.alloc(0);
  const announced = /^[0-9]{1,10}$/.test(headers["content-length"] ?? "")
    ? Number(headers["content-length"])
    : rest.length;
  return {
    method: method.toUpperCase(),
    target,
    headers,
    rawHeaders,
    body: rest.subarray(0, announced),
    missingBytes: Math.max(0, announced - rest.length),
  };
}

/** The request that a held delivery was. */
export function rawRequestOf({
  method,
  target,
  headers: text,
  body,
}: Pick<HeldDelivery, "method" | "target" | "headers" | "body">): RawRequest {
  const sent = Object.entries(JSON.parse(text) as IncomingHttpHeaders).map(([name, value = ""]): [string, string] => [
    name,
    Array.isArray(value) ? value.join(", ") : value,
  ]);
  const headers = Object.fromEntries(sent);
  // What a trusted proxy has put back, so that the target is the one that the sender wrote.
  const prefix = (headers["x-forwarded-prefix"] ?? "").replace(/\/$/, "");
  return {
    method,
    target: prefix !== "" && target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : target,
    headers,
    rawHeaders: sent.flat(),
    // Such a delivery is held with its query as its body.
    body: isInQuery(method) ? Buffer.alloc(0) : Buffer.from(body),
    missingBytes: 0,
  };
}

/** Writes a request in the form that {@link parseRawRequest} reads. */
export function writeRawRequest({
  method,
  target,
  rawHeaders,
  body,
}: Pick<RawRequest, "method" | "target" | "rawHeaders" | "body">): Buffer {
  const lines = pairsOf(rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1"), body]);
}

/** The names of headers with their values. */
export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  return rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : [],
  );
}
