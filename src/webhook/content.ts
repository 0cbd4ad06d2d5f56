import { hash } from "node:crypto";
import { valueAt } from "../lib/json-path.ts";
import { parseStrictJson, type StrictJson } from "../lib/strict-json.ts";

/** The body of a delivery, parsed when it is first asked for. */
export interface Content {
  /** The body as received. */
  bytes: Buffer;
  mediaType: string;
  json(): StrictJson;
  /** The fields of a form; none in a body of another type. */
  form(): URLSearchParams;
  /** The member at a path: names with dots between them. A form's fields are its members. Undefined if it is missing. */
  member(path: string): unknown;
}

export const FORM = "application/x-www-form-urlencoded";

/** Wraps a body. `mediaType` is in lower case, without parameters. */
export function openContent(bytes: Buffer, mediaType: string): Content {
  let json: StrictJson | undefined;
  let form: URLSearchParams | undefined;
  const content: Content = {
    bytes,
    mediaType,
    json() {
      json ??= parseStrictJson(bytes);
      return json;
    },
    form() {
      form ??= new URLSearchParams(mediaType === FORM ? withSigns(bytes.toString("utf8")) : "");
      return form;
    },
    member: (path) => (mediaType === FORM ? memberOfForm(content.form(), path) : memberOfJson(content.json(), path)),
  };
  return content;
}

/** Adds the equals sign to names without one: `URLSearchParams` takes quadratic time for many of them. */
function withSigns(form: string): string {
  return form.replace(/(^|&)([^=&]+)(?=&|$)/g, "$1$2=");
}

/** Whether a text is the SHA-256 of a body in hex. */
export function isSha256Of({ bytes }: Content, text: unknown): boolean {
  return typeof text === "string" && text.toLowerCase() === hash("sha256", bytes);
}

function memberOfJson(parsed: StrictJson, path: string): unknown {
  return parsed.ok ? valueAt(parsed.value, path) : undefined;
}

/** A field of a form, or a member of the JSON in its field `payload`, as GitHub and Slack send it. */
function memberOfForm(form: URLSearchParams, path: string): unknown {
  const payload = form.get("payload");
  return form.get(path) ?? (payload === null ? undefined : memberOfJson(parseStrictJson(Buffer.from(payload)), path));
}
