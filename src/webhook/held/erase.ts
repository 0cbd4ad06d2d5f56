import { hash } from "node:crypto";
import { type HeldDelivery, type HeldStore, readInParts } from "./held-store.ts";

/** A held delivery that was removed with what it belongs to. */
interface ErasedHeld {
  id: number;
  source: string;
  /** Unix milliseconds. */
  receivedAt: number;
  /** The SHA-256 of the body in hex. */
  bodySha256: string;
}

/** Which held deliveries belong to what is erased. */
interface ErasedContents {
  /** The erased events. */
  events: readonly { source: string; payloadSha256: string }[];
  /** A text that is erased wherever it is held. Times are Unix milliseconds. */
  search?: { text: string; source?: string | undefined; since?: number | undefined; until?: number | undefined };
}

const PAGE = 100;

/**
 * Removes the held deliveries with the bytes of erased events, and those that contain the text of a search in body,
 * target or headers. With `isDryRun` they are only found.
 */
export async function eraseHeld(
  store: Pick<HeldStore, "list" | "read" | "remove">,
  { events, search }: ErasedContents,
  isDryRun: boolean,
): Promise<ErasedHeld[]> {
  const digests = new Set(events.map(({ source, payloadSha256 }) => `${source} ${payloadSha256}`));
  const erased: ErasedHeld[] = [];
  if (digests.size === 0 && search === undefined) return erased;
  const isErased = (delivery: HeldDelivery, bodySha256: string) =>
    digests.has(`${delivery.source} ${bodySha256}`) || (search !== undefined && hasText(delivery, search));
  for (let after = 0; ; ) {
    const rows = await store.list({ after, limit: PAGE });
    for await (const part of readInParts(
      store,
      rows.map(({ id }) => id),
    )) {
      const found = part
        .map((delivery) => ({ delivery, bodySha256: hash("sha256", delivery.body) }))
        .filter(({ delivery, bodySha256 }) => isErased(delivery, bodySha256))
        .map(({ delivery: { id, source, receivedAt }, bodySha256 }) => ({ id, source, receivedAt, bodySha256 }));
      if (found.length > 0 && !isDryRun) await store.remove(found.map(({ id }) => id));
      erased.push(...found);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return erased;
    after = last.id;
  }
}

function hasText(
  { source, receivedAt, body, target, headers }: HeldDelivery,
  search: NonNullable<ErasedContents["search"]>,
): boolean {
  const { text, since = receivedAt, until = Number.POSITIVE_INFINITY } = search;
  if ((search.source ?? source) !== source || receivedAt < since || receivedAt >= until) return false;
  return Buffer.from(body).includes(text) || target.includes(text) || headers.includes(text);
}
