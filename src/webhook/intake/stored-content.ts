import type { EventPayload } from "../../events/store.ts";
import { openContent } from "./content.ts";

/** Opens a stored event for conditions and ordering keys. The headers are read when one is first asked for. */
export function openStored({ payload, contentType, headers }: EventPayload) {
  const content = openContent(Buffer.from(payload.buffer, payload.byteOffset, payload.length), contentType);
  let parsed: Record<string, string> | undefined;
  return {
    member: content.exactMember,
    header(name: string): string | undefined {
      parsed ??= JSON.parse(headers) as Record<string, string>;
      return Object.hasOwn(parsed, name) ? parsed[name] : undefined;
    },
  };
}
