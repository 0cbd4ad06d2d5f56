import type { EventPayload } from "../../events/store.ts";
import { openContent } from "./content.ts";

interface StoredEvent extends Omit<EventPayload, "headers"> {
  /** By names in lower case, or a text of JSON that is read when a header is first asked for. */
  headers: Readonly<Record<string, string>> | string;
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
