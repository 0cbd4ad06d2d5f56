// Statements of the hot path bind by position: binding by name costs as much as the write. `LIMIT +?` instead of `LIMIT
// ?`: SQLite plans a statement again each time a bare limit is bound. `= +@key`, for the same reason, where it compares
// a bound value with the condition of a partial index: 5 instead of 28 µs. SQLite uses a partial index only if the
// query repeats its condition (`status <> 'processed'`).

/** The last event that fan-out has given its jobs. */
export const ROUTED_TO = "SELECT routed_to FROM tally";

/** How many jobs are dead letters because their events cannot be read. */
export const UNREADABLE = "SELECT count(*) FROM dead_letters WHERE unreadable = 1";

/** The columns of an event in a list. */
export const EVENT =
  "events.id, events.source, events.event_id AS eventId, events.type, events.received_at AS receivedAt";

/** The size of the file without free pages. */
export const USED_BYTES = `
  ((SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count))
    * (SELECT page_size FROM pragma_page_size)`;
