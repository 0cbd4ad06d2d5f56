import { isUtf8 } from "node:buffer";
import { AppError } from "../../errors.ts";
import { formEncoded } from "../../lib/form-encoded.ts";
import { looksLikeJson } from "../../lib/form-json.ts";
import { FORM, isJsonLines, mediaTypeIn } from "../../lib/header-value.ts";
import { redactForm } from "../../lib/redact-form.ts";
import { isRedacted, REDACTED, type RedactedPaths, type RedactedText, redactJson } from "../../lib/redact-json.ts";
import { splitTarget } from "../../lib/request-target.ts";
import type { Content } from "./content.ts";

/** What a source keeps to itself. */
export interface RedactSettings {
  /** The members of JSON that are replaced before anything is stored. Undefined: none. */
  redact?: RedactedPaths;
}

/** What is kept of a body, and of headers that repeat what was removed from it. */
interface Redacted {
  bytes: Buffer;
  /** The value of a header, unless it has one of the removed texts. */
  header(value: string): string;
  /** A request target, without its query if that has one of the removed texts. */
  target(value: string): string;
}

// A shorter text may be a part of many values.
const LEAST_LENGTH = 6;

// Each is searched for in a header of up to 16 KB.
const MAX_LIKELY = 500;

const beginningOf = (text: string) => text.slice(0, LEAST_LENGTH);

const AS_SENT: Omit<Redacted, "bytes"> = { header: (value) => value, target: (value) => value };

/**
 * What a source keeps of a body. Null if the source redacts, and the body is neither JSON nor an urlencoded form in
 * UTF-8: nothing of it may be kept. `isKnownJson`: it was parsed before.
 */
export function redacted(
  { redact }: RedactSettings,
  bytes: Buffer,
  contentType: string,
  isKnownJson = false,
): Redacted | null {
  if (redact === undefined) return { bytes, ...AS_SENT };
  if (!isUtf8(bytes)) return null;
  const text = bytes.toString();
  const found = isKnownJson
    ? redactJson(text, redact, { isKnown: true })
    : redactText(text, redact, mediaTypeIn(contentType));
  if (found === null) return null;
  const removed = found.removed.filter((one) => one.length >= LEAST_LENGTH);
  const byBeginning = Map.groupBy(removed, beginningOf);
  /** Looks only for texts whose beginning is in the value. Of too many, one is taken to be there. */
  const hasRemoved = (value: string) => {
    const beginnings = new Set(Array.from(value, (_, at) => beginningOf(value.slice(at))));
    const likely = [...beginnings].flatMap((one) => byBeginning.get(one) ?? []);
    return likely.length > MAX_LIKELY || likely.some((whole) => value.includes(whole));
  };
  return {
    bytes: Buffer.from(found.text),
    header: (value) => (hasRemoved(value) ? REDACTED : value),
    target(value) {
      const [path, query = ""] = splitTarget(value);
      return hasRemoved(query) || [...new URLSearchParams(query)].flat().some(hasRemoved) ? path : value;
    },
  };
}

function redactText(text: string, paths: RedactedPaths, mediaType: string): RedactedText | null {
  const json = redactJson(text, paths, { isLines: isJsonLines(mediaType) });
  if (json !== null) return json;
  // JSON that is broken is read as far as it goes, also where it is called a form.
  return mediaType === FORM && !looksLikeJson(text) ? redactForm(text, paths) : null;
}

/** As {@link redacted}, for a genuine delivery. Throws `invalid_payload` if the body cannot be redacted. */
export function requireRedacted(source: RedactSettings, content: Content, contentType: string): Redacted {
  const json = source.redact && content.json();
  const found = redacted(source, content.bytes, contentType, json?.value !== undefined);
  if (found !== null) return found;
  const message = "must be JSON or a form in UTF-8, of which the source can redact members";
  throw new AppError("invalid_payload", { errors: [{ path: "", message }], reason: `the body ${message}` });
}

/** Headers as JSON, with values replaced that have a removed text. */
export function redactedHeaders(headers: string, { header }: Pick<Redacted, "header">): string {
  return JSON.stringify(headers === "{}" ? {} : JSON.parse(headers), (_, value) =>
    typeof value === "string" ? header(value) : value,
  );
}

const TRACES = [`"${REDACTED}"`, `=${formEncoded(REDACTED)}`, encodeURIComponent(`"${REDACTED}"`)];

/** Whether members of a body were redacted. Its signature is of other bytes. */
export function wasRedacted(bytes: Uint8Array): boolean {
  const body = Buffer.from(bytes);
  return TRACES.some((trace) => body.includes(trace));
}

/** One or several places in a delivery, e.g. `body:id`. */
type Places = string | readonly string[];

/** The first place of an event's id or type that would be redacted, as the configuration names it. */
export function redactedPlace(
  paths: RedactedPaths,
  { preset, id, type }: { preset: string | null; id: readonly Places[]; type: readonly Places[] },
): string | undefined {
  const usual = preset === null ? ["body:id", "body:type"] : [];
  return [...[...id, ...type].flat(), ...usual].find(
    (place) => place.startsWith("body:") && isRedacted(paths, place.slice("body:".length)),
  );
}
