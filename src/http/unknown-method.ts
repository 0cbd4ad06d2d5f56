import type { AppError } from "../errors.ts";
import { trimSpace } from "../lib/header-value.ts";
import { validRequestId } from "./endpoint.ts";
import type { Refusal } from "./router.ts";

/** An error of Node's HTTP parser. */
export interface ParseError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
  /** How many bytes of that packet were parsed before the error. */
  bytesParsed?: number;
}

// The parser's codes for a method that it does not know, or knows from other protocols only.
const CODES = ["HPE_INVALID_METHOD", "HPE_INVALID_CONSTANT", "HPE_INVALID_VERSION"];

// The lookbehind matches a token only at its start. Without it, a long token would take quadratic time.
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]";
const REQUEST_LINES = new RegExp(`(?<!${TOKEN})(${TOKEN}+) ([^\\s]+) HTTP/1\\.[01]\r\n`, "g");

/**
 * Returns the error and the request id for a request whose only fault is a method that Node's parser does not know: any
 * token may be a method (RFC 9110, 9.1). Returns undefined for anything else.
 */
export function refuseUnknownMethod(
  { code = "", rawPacket, bytesParsed = 0 }: ParseError,
  refusalOf: Refusal,
): { refusal: AppError; requestId: string } | undefined {
  if (!CODES.includes(code) || !rawPacket) return undefined;
  const text = rawPacket.toString("latin1");
  for (const line of text.matchAll(REQUEST_LINES)) {
    const [{ length }, method = "", target = ""] = line;
    const end = line.index + length;
    if (end < bytesParsed) continue;
    const head = text.slice(end - 2);
    const hasHost = line[0].endsWith("0\r\n") || headerIn(head, "host") !== undefined;
    const refusal = line.index <= bytesParsed && hasHost ? refusalOf(method, target) : undefined;
    return refusal && { refusal, requestId: validRequestId(headerIn(head, "x-request-id")) };
  }
  return undefined;
}

/** The value of a header. `text` begins with the line end before the first header. */
function headerIn(text: string, name: string): string | undefined {
  const [head = ""] = text.split("\r\n\r\n", 1);
  const value = new RegExp(`\\r\\n${name}:([^\\r\\n]*)`, "i").exec(head)?.[1];
  return value === undefined ? undefined : trimSpace(value);
}
