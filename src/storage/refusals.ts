import type { KeptRefusal, RefusalStore } from "../webhook/intake/refusal-store.ts";
import { changed, changedEach, type QueryPort, rows } from "./query.ts";

const ADD = `
INSERT INTO authserve.recent_refusals (received_at, source, reason, address)
VALUES ($1::bigint, $2::text, $3::text, $4::text)`;

/** Removes those from before a time, and all but the newest: since, most. */
const TRIM = `
DELETE FROM authserve.recent_refusals WHERE received_at < $1
  OR id <= (SELECT id FROM authserve.recent_refusals ORDER BY id DESC LIMIT 1 OFFSET $2)`;

const LIST = `
SELECT received_at AS "receivedAt", source, reason, address FROM authserve.recent_refusals
WHERE received_at >= $1 ORDER BY id DESC`;

/** Keeps the newest refused deliveries. */
export const refusalStore: QueryPort<RefusalStore> = {
  *add(refusals, { most, since }) {
    const columns = refusals.map(({ receivedAt, source, reason, address }) => [
      Math.round(receivedAt),
      source,
      reason,
      address,
    ]);
    yield* changedEach(ADD, columns);
    yield* changed(TRIM, Math.round(since), most);
  },
  list: (since) => rows<KeptRefusal>(LIST, Math.round(since)),
};
