import type { AppError } from "../errors.ts";
import { saneRequestId } from "./route.ts";
import type { Refusal } from "./router.ts";

/** What Node's parser tells of what it could not read. */
export interface ParseError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
  /** Of that packet, until the error. */
  bytesParsed?: number;
}

// What the parser says of a method that it does not know, or knows of other protocols only.
const CODES = ["HPE_INVALID_METHOD", "HPE_INVALID_CONSTANT", "HPE_INVALID_VERSION"];

// A token begins where none is before it: tried from each of its characters, a long one would take for ever.
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]";
const REQUEST_LINES = new RegExp(`(?<!${TOKEN})(${TOKEN}+) ([^\\s]+) HTTP/1\\.[01]\r\n`, "g");

/**
 * The refusal, and the id, of a request in which Node's parser knows all but the method: any token may be one (RFC 9110,
 * 9.1). Undefined of anything else.
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
    return refusal && { refusal, requestId: saneRequestId(headerIn(head, "x-request-id")) };
  }
  return undefined;
}

/** A header's value, in what begins with the line end before the headers. */
function headerIn(text: string, name: string): string | undefined {
  const [head = ""] = text.split("\r\n\r\n", 1);
  return new RegExp(`\\r\\n${name}:([^\\r\\n]*)`, "i").exec(head)?.[1]?.trim();
}
