import type { EventPayload } from "../../events/store.ts";
import { parseStrictJson, withoutMark } from "../../lib/json.ts";
import { jsonTextIn, openContent } from "./content.ts";

interface StoredEvent extends Omit<EventPayload, "headers"> {
  /** By names in lower case, or a text of JSON that is read when a header is first asked for. */
  headers: Readonly<Record<string, string>> | string;
}

/** The content of a stored event as text of JSON, with all digits of its numbers; null if it cannot be read. */
export function jsonOf({ payload, contentType }: Pick<StoredEvent, "payload" | "contentType">): string | null {
  const content = openContent(Buffer.from(payload.buffer, payload.byteOffset, payload.length), contentType);
  const form = content.form();
  if (form.size > 0) return jsonOfForm(form);
  if (content.json().ok) return content.bytes.toString();
  const unmarked = withoutMark(content.bytes);
  if (unmarked.length < content.bytes.length && parseStrictJson(unmarked).ok) return unmarked.toString();
  const { value } = content.lenientJson();
  return value === undefined ? null : JSON.stringify(value);
}

/** The JSON in a form, or its fields, of which a repeated one is a list. */
function jsonOfForm(form: URLSearchParams): string {
  const json = jsonTextIn(form);
  if (json !== undefined && parseStrictJson(Buffer.from(json)).ok) return json;
  const fields = Map.groupBy(form, ([name]) => name);
  const valuesIn = (found: [string, string][]) =>
    found.length === 1 ? found[0]?.[1] : found.map(([, value]) => value);
  return JSON.stringify(Object.fromEntries([...fields].map(([name, found]) => [name, valuesIn(found)])));
}

/** Opens a stored event for conditions and ordering keys. */
export function openStored({ payload, contentType, headers }: StoredEvent) {
  const content = openContent(Buffer.from(payload.buffer, payload.byteOffset, payload.length), contentType);
  let parsed = typeof headers === "string" ? undefined : headers;
  return {
    member: content.exactMember,
    header(name: string): string | undefined {
      parsed ??= JSON.parse(headers as string) as Record<string, string>;
      return Object.hasOwn(parsed, name) ? parsed[name] : undefined;
    },
  };
}
