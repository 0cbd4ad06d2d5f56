import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.ts";
import { type Coding, codingIn } from "./content-coding.ts";
import { headerValues, isInRanges, isJson, trimSpace } from "./header-value.ts";

const MAX_TYPE_LENGTH = 256;

/**
 * Returns the media type of a request, in lower case. Throws `unsupported_media_type` unless it is one of those
 * accepted, and there is no Content-Encoding. JSON must be in UTF-8. Ranges such as `text/*` count; with the range of
 * all types, a request may have none.
 */
export function requireMediaType(request: IncomingMessage, accepted: readonly string[]): string {
  const { "content-encoding": encoding } = request.headers;
  if (encoding !== undefined) throw unsupported(accepted, "content_encoding", encoding);
  return requireEncodableType(request, accepted);
}

/**
 * As {@link requireMediaType}, of a request that may have a Content-Encoding. With `isLenient`, JSON may be in any
 * charset, and an empty body needs no type.
 */
export function requireEncodableType(
  request: Pick<IncomingMessage, "headers" | "rawHeaders">,
  accepted: readonly string[],
  { isLenient = false } = {},
): string {
  const { "content-type": announced = "" } = request.headers;
  // Limits the work that an unverified client can cause.
  if (announced.length > MAX_TYPE_LENGTH) throw unsupported(accepted, "content_type_too_long");
  if (headerValues(request.rawHeaders, "content-type").length > 1) throw unsupported(accepted, "several_content_types");
  const { type, isUtf8 } = readMediaType(announced);
  const isReadable = isUtf8 || isLenient || !isJson(type);
  if (isReadable && isInRanges(type, accepted)) return type;
  if (announced === "" && isLenient && isEmpty(request)) return "";
  if (announced === "") throw unsupported(accepted, "no_content_type");
  throw unsupported(accepted, isReadable ? "content_type" : "charset", announced);
}

/** Whether a request announces no body (RFC 9112, 6.3). */
function isEmpty({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

/** `sent` is what the request has. */
function unsupported(accepted: readonly string[], reason: string, sent?: string): AppError {
  return new AppError("unsupported_media_type", { headers: { "Accept-Post": accepted.join(", ") }, reason, sent });
}

/**
 * Returns the coding of a request. Throws `unsupported_media_type` unless there is none, or it is one of those
 * accepted.
 */
export function requireCoding(
  { headers }: Pick<IncomingMessage, "headers">,
  accepted: readonly Coding[],
): Coding | null {
  const header = headers["content-encoding"];
  if (header === undefined) return null;
  const coding = codingIn(header);
  if (coding === null || (coding !== undefined && accepted.includes(coding))) return coding;
  throw new AppError("unsupported_media_type", {
    headers: { "Accept-Encoding": accepted.join(", ") || "identity" },
    reason: "content_encoding",
    sent: header,
  });
}

/** The media type without its parameters, and whether no other charset than UTF-8 is named. */
function readMediaType(announced: string): { type: string; isUtf8: boolean } {
  if (announced === "application/json") return { type: announced, isUtf8: true };
  const [type = "", ...parameters] = announced.split(";").map((part) =>
    trimSpace(part)
      .replace(/[ \t]*=[ \t]*/, "=")
      .toLowerCase(),
  );
  const charsets = parameters.filter((parameter) => parameter.startsWith("charset="));
  return { type, isUtf8: charsets.every((charset) => /^charset=(?:utf-?8|"utf-?8")$/.test(charset)) };
}
