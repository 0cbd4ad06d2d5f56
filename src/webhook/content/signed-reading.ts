import { isUtf8 } from "node:buffer";
import { FORM, isInRanges, isJson, isJsonLines, MULTIPART } from "../../lib/header-value.ts";
import { boundaryIn, boundaryOf, parseMultipart } from "../../lib/multipart.ts";
import { beginsAsJson, type Content, openContent } from "./content.ts";

/** How a signed body is read. */
interface SignedReading {
  content: Content;
  /** The `Content-Type` of the bytes, where they were sent under another one that cannot be read; else null. */
  contentType: string | null;
}

const JSON_LINES = "application/x-ndjson";

/**
 * Reads a signed body by its bytes, as one of the media types that the source takes. No signature covers the
 * `Content-Type`: who sends captured bytes again under another one must not make another event of them.
 */
export function readSigned(content: Content, contentTypes: readonly string[]): SignedReading {
  const { bytes, mediaType } = content;
  const asSent = { content, contentType: null };
  const takes = (type: string) => isInRanges(type, contentTypes);
  const takesLines = contentTypes.some(isJsonLines) || takes(JSON_LINES);
  const takesForms = takes(FORM);
  if (!takesLines && !takesForms && !takes(MULTIPART)) return asSent;

  const boundary = takes(MULTIPART) ? boundaryOf(bytes) : null;
  if (boundary !== null) {
    const contentType = `${MULTIPART}; boundary="${boundary}"`;
    const isSent = mediaType === MULTIPART && boundaryIn(content.contentType) === boundary;
    if (!isSent && parseMultipart(bytes, contentType)) return reopened(bytes, contentType);
    if (isSent) return asSent;
  }
  // Only the charset that was sent tells how to read other bytes.
  if (!isUtf8(bytes)) return asSent;
  // JSON that is broken is no form.
  if (beginsAsJson(bytes)) return (takesLines ? readAsLines(content) : null) ?? asSent;
  if (!takesForms || mediaType === FORM) return asSent;
  if (hasShapeOfForm(bytes)) return reopened(bytes, FORM);
  return contentTypes.every(isRead) ? { ...reopened(bytes, FORM), contentType: null } : asSent;
}

/** Reads JSON Lines that were sent as something else. Null if they cannot be read. */
function readAsLines(content: Content): SignedReading | null {
  const { bytes, mediaType } = content;
  if (isJsonLines(mediaType)) return null;
  const lines = openContent(bytes, JSON_LINES, content.json());
  if (lines.lenientJson().value === undefined) return null;
  // A single line is JSON too.
  return { content: lines, contentType: content.isJson() ? null : JSON_LINES };
}

function reopened(bytes: Buffer, contentType: string): SignedReading {
  return { content: openContent(bytes, contentType), contentType };
}

/** Whether what is in a body of this media type is read. Of XML and other texts nothing is. */
function isRead(type: string): boolean {
  return isJson(type) || isJsonLines(type) || type === FORM || type === MULTIPART;
}

/** Whether bytes are what encoders of forms write, so that hardly any other text is meant. */
function hasShapeOfForm(bytes: Buffer): boolean {
  return bytes.includes("=") && /^[\w%+.*~!'()[\]=&-]*$/.test(bytes.toString("latin1"));
}
