import { isConfidential } from "../content/stored-headers.ts";
import type { HeldDelivery } from "./held-store.ts";

/** The headers of a held delivery, without the values that may be secrets. */
export function shownHeaders({ headers }: Pick<HeldDelivery, "headers">): Record<string, string> {
  const sent = Object.entries(JSON.parse(headers) as Record<string, string | string[]>);
  return Object.fromEntries(
    sent.map(([name, value]) => [
      name,
      isConfidential(name) ? `… (${value.length} ${value.length === 1 ? "character" : "characters"})` : String(value),
    ]),
  );
}

/** The path of a held delivery. A query may have a secret. */
export function shownPath({ target }: Pick<HeldDelivery, "target">): string {
  return target.replace(/\?.*$/s, "?…");
}
