import type { Erasure } from "../events/erasure.ts";
import type { Queries } from "./connection.ts";
import { integers } from "./values.ts";

/** The erasures of events: events. */
const READ = `
SELECT event, erased_at AS "erasedAt", reason, encode(payload_sha256, 'hex') AS "payloadSha256"
FROM authserve.erasures WHERE event = ANY($1::bigint[])`;

/** The erasures of some events, by event. */
export async function readErasures(queries: Queries, events: readonly number[]): Promise<ReadonlyMap<number, Erasure>> {
  const rows = await queries.rows<Erasure & { event: number }>(READ, [integers(events)]);
  return new Map(rows.map(({ event, ...erasure }) => [event, erasure]));
}
