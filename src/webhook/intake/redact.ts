import { isUtf8 } from "node:buffer";
import { AppError } from "../../errors.ts";
import { isJsonLines, mediaTypeIn } from "../../lib/header-value.ts";
import { isRedacted, REDACTED, type RedactedPaths, redactJson } from "../../lib/redact-json.ts";
import type { Source } from "../source.ts";

/** What is kept of a body, and of headers that repeat what was removed from it. */
interface Redacted {
  bytes: Buffer;
  /** The value of a header, unless it has one of the removed texts. */
  header(value: string): string;
}

// A shorter text may be a part of many values.
const LEAST_LENGTH = 6;

const AS_SENT: Omit<Redacted, "bytes"> = { header: (value) => value };

/**
 * What a source keeps of a body. Null if the source redacts, and the body is not JSON in UTF-8: nothing of it may be
 * kept.
 */
export function redacted({ redact }: Pick<Source, "redact">, bytes: Buffer, contentType: string): Redacted | null {
  if (redact === undefined) return { bytes, ...AS_SENT };
  if (!isUtf8(bytes)) return null;
  const found = redactJson(bytes.toString(), redact, isJsonLines(mediaTypeIn(contentType)));
  if (found === null) return null;
  const removed = found.removed.filter((text) => text.length >= LEAST_LENGTH);
  return {
    bytes: Buffer.from(found.text),
    header: (value) => (removed.some((text) => value.includes(text)) ? REDACTED : value),
  };
}

/** As {@link redacted}, for a genuine delivery. Throws `invalid_payload` if the body is not JSON. */
export function requireRedacted(source: Pick<Source, "redact">, bytes: Buffer, contentType: string): Redacted {
  const found = redacted(source, bytes, contentType);
  if (found !== null) return found;
  const message = "must be JSON in UTF-8, of which the source can redact members";
  throw new AppError("invalid_payload", { errors: [{ path: "", message }], reason: `the body ${message}` });
}

/** Headers as JSON, with values replaced that have a removed text. */
export function redactedHeaders(headers: string, { header }: Pick<Redacted, "header">): string {
  return JSON.stringify(headers === "{}" ? {} : JSON.parse(headers), (_, value) =>
    typeof value === "string" ? header(value) : value,
  );
}

/** Whether members of a body were redacted. Its signature is of other bytes. */
export const wasRedacted = (bytes: Uint8Array) => Buffer.from(bytes).includes(`"${REDACTED}"`);

/** The first place of an event's id or type that would be redacted, as the configuration names it. */
export function redactedPlace(
  paths: RedactedPaths,
  { preset, id, type }: Pick<Source, "preset" | "id" | "type">,
): string | undefined {
  const usual = preset === null ? ["body:id", "body:type"] : [];
  return [...[...id, ...type].flat(), ...usual].find(
    (place) => place.startsWith("body:") && isRedacted(paths, place.slice("body:".length)),
  );
}
