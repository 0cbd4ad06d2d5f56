import { charsetIn, isJson, isJsonLines, MULTIPART, mediaTypeIn } from "./header-value.ts";
import { readJsonLines, readLenientJson } from "./json.ts";
import { parseMultipart } from "./multipart.ts";

/** Why a body is not what its `Content-Type` says, as the end of a sentence about it; null if it is, or may be. */
export function bodyFault(bytes: Buffer, contentType: string): string | null {
  const mediaType = mediaTypeIn(contentType);
  const charset = charsetIn(contentType);
  if (isJson(mediaType)) return readLenientJson(bytes, charset).fault;
  if (isJsonLines(mediaType)) return readJsonLines(bytes, charset).fault;
  if (mediaType === MULTIPART && parseMultipart(bytes, contentType) === null) return `is no well-formed ${MULTIPART}`;
  return null;
}
