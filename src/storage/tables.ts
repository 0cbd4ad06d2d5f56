import type { StorePart } from "./faults.ts";

/** The kind of a column's values. */
export type ColumnKind = "integer" | "text" | "boolean" | "bytes";

/** A table that is copied from one store to another. */
export interface CopiedTable {
  name: string;
  /** The columns in the target. */
  columns: Readonly<Record<string, ColumnKind>>;
  /** The columns that identify a row. Rows are copied in their order. */
  key: readonly string[];
}

type Columns = CopiedTable["columns"];

/** A table of the stores. Its columns are those on PostgreSQL, or on SQLite if only that has it. */
export interface StoredTable extends CopiedTable {
  part: StorePart;
  /** The only store that has it. */
  only?: "sqlite" | "postgres";
  /** The columns on SQLite, if they are others. */
  sqlite?: Columns;
  /** The column on SQLite with the CRC-32 of `payload`. */
  checksum?: string;
  /** A migration does not copy it. */
  isLeft?: true;
  /** It has rows of an event, which are removed with the event. */
  ofEvent?: true;
  /** It may have millions of rows. */
  isLarge?: true;
}

/** Columns by kind. */
type Kinds = Partial<Record<ColumnKind, string>>;

function columnsOf(names: Kinds): Columns {
  const kinds = Object.entries(names) as [ColumnKind, string][];
  return Object.fromEntries(kinds.flatMap(([kind, text]) => text.split(" ").map((name) => [name, kind])));
}

const table =
  (part: StorePart) =>
  (name: string, key: string, kinds: Kinds, more: Omit<Partial<StoredTable>, keyof CopiedTable> = {}): StoredTable => ({
    part,
    name,
    key: key.split(" "),
    columns: columnsOf(kinds),
    ...more,
  });

const events = table("events");
const sources = table("sources");
const held = table("held");
const alerts = table("alerts");
const sessions = table("sessions");
const throttle = table("throttle");
const tokens = table("tokens");
const factors = table("factors");
const clients = table("clients");
const audit = table("audit");
const nodes = table("nodes");

const LARGE = { isLarge: true } as const;
const OF_EVENT = { ofEvent: true, isLarge: true } as const;
const WITH_CHECKSUM = { ...OF_EVENT, checksum: "payload_crc32" } as const;
const SQLITE = { only: "sqlite" } as const;
const POSTGRES = { only: "postgres" } as const;
const LEFT = { isLeft: true } as const;

const CONTENT = "secret address headers content_type";
const SESSION = { text: "user_id sid network user_agent", integer: "expires_at" };
const STAT = ["at outcome source route", { integer: "at count", text: "outcome source route" }] as const;
const LATENCY = ["at slot source route", { integer: "at slot count", text: "source route" }] as const;
const COUNTED = "processed_bytes failed_bytes unrouted conflicts";

const JOB: Kinds = {
  integer: "event attempts attempts_before_replay replays probes due_at claimed_at ended_at",
  text: "route status ordering_key lease_owner last_error",
  boolean: "is_replay in_line",
};
const CONFLICT: Kinds = {
  integer: "event first_at last_at deliveries",
  text: `type ${CONTENT}`,
  bytes: "payload_sha256 payload",
};
const REPEAT: Kinds = {
  integer: "event number first_at last_at deliveries",
  text: `event_id type ${CONTENT} replayed_as`,
};
const GRANT = "client user_id sid scope method nonce";
const HELD: Kinds = {
  integer: "id received_at",
  text: "source reason method origin target headers media_type address",
  bytes: "body",
};

/** All tables of both stores. A migration copies two at a time, so that the longest ones come first. */
export const TABLES: readonly StoredTable[] = [
  events(
    "events",
    "id",
    { integer: "id received_at size", text: "source event_id type", bytes: "bytes_sha256" },
    LARGE,
  ),
  events("contents", "event", { integer: "event", text: CONTENT, bytes: "payload" }, WITH_CHECKSUM),
  events("jobs", "event route", JOB, OF_EVENT),
  events(
    "attempts",
    "event route attempt",
    {
      integer: "event attempt replay attempt_of_budget started_at finished_at response_status",
      text: "route outcome error response",
      boolean: "is_probe",
    },
    OF_EVENT,
  ),
  events("events_by_minute", "minute", { integer: "minute first_event last_event" }, LARGE),
  events("events_by_type", "type event", { text: "type", integer: "event" }, { ...SQLITE, ...LEFT }),
  events("events_by_source", "source event", { text: "source", integer: "event" }, { ...SQLITE, ...LEFT }),
  events("unrouted", "event", { integer: "event" }, POSTGRES),
  events("untaken", "event", { integer: "event" }, OF_EVENT),
  events("dead_letters", "event route", { integer: "event failed_at", text: "route reason" }, OF_EVENT),
  events("discards", "event route", { integer: "event discarded_at", text: "route reason" }, OF_EVENT),
  events("sent_bodies", "event route", { integer: "event", text: "route content_type", bytes: "body" }, OF_EVENT),
  events("conflicts", "event payload_sha256", CONFLICT, WITH_CHECKSUM),
  events("repeats", "event number", REPEAT, OF_EVENT),
  events("reroutes", "event", { integer: "event" }, OF_EVENT),
  events("shadow_differences", "event route", { integer: "event at", text: "route difference" }, { ofEvent: true }),
  events("shadow_counts", "route outcome", { integer: "count", text: "route outcome" }),
  events("paused_routes", "route", { text: "route", integer: "paused_at until_at" }),
  events("erasures", "event", { integer: "event erased_at", text: "reason", bytes: "payload_sha256" }, OF_EVENT),
  events("unavailable_routes", "route owner", { text: "route owner", integer: "since probe_at seen_at try_at" }, LEFT),
  events("stats_minutes", ...STAT, LARGE),
  events("stats_hours", ...STAT, LARGE),
  events("stats_added", ...STAT, { ...POSTGRES, ...LEFT }),
  events("latency_minutes", ...LATENCY, LARGE),
  events("latency_hours", ...LATENCY, LARGE),
  sources("source_counts", "source", { text: "source", integer: "received refused last_received_at" }),
  sources("source_refusals", "source reason", { text: "source reason", integer: "count" }),
  sources("recent_refusals", "id", { integer: "id received_at", text: "source reason address" }, LEFT),
  sources("source_secrets", "source name", { text: "source name mark", integer: "first_used_at last_used_at" }),
  sources("heartbeats", "name", { text: "name", integer: "at" }, LEFT),
  sources("outages", "kind from_at", { text: "kind", integer: "from_at to_at" }, LEFT),
  sources("catch_ups", "source", { text: "source state" }),
  sources("catch_up_items", "source item", {
    text: "source item",
    integer: "at tries changed_at",
    boolean: "is_done",
  }),
  sources("subscriptions", "source", { text: "source record" }),
  held("held", "id", HELD, LARGE),
  held("held_tally", "source", { text: "source", integer: "count bytes" }),
  alerts("alerts", "id", { text: "id record" }),
  alerts("alert_silences", "id", { text: "id name silence", integer: "until" }),
  alerts("alert_messages", "id", { integer: "id attempts due_at", text: "notifier message" }, LEFT),
  sessions("sessions", "user_id", { ...SESSION, text: `${SESSION.text} credential` }, { sqlite: columnsOf(SESSION) }),
  sessions("supersessions", "user_id sid", { ...SESSION, integer: "at expires_at" }),
  sessions("session_devices", "user_id", { text: "user_id sid public_key", integer: "bound_from challenged_at" }),
  tokens("machine_tokens", "name", {
    text: "name digest scopes last_network",
    integer: "created_at expires_at last_used_at",
  }),
  audit("audit", "number", { integer: "number at", text: "who origin action detail hash" }),
  audit("audit_ends", "name", { text: "name hash", integer: "number" }),
  factors("people", "id", {
    text: "id email mark password_hash invitation invitation_browser",
    integer: "invitation_ends_at",
  }),
  factors("login_factors", "id", { text: "id kind name data", integer: "counter created_at last_used_at" }),
  factors("recovery_codes", "digest", { text: "digest" }),
  factors("spent_codes", "id", { text: "id", integer: "expires_at" }),
  factors("logins", "sid", { text: "sid network user_agent method", integer: "at" }),
  factors("login_networks", "network", { text: "network sid", integer: "last_at new_at" }),
  factors("person_factors", "id", { text: "account id kind name data", integer: "counter created_at last_used_at" }),
  factors("person_codes", "digest", { text: "account digest" }),
  factors("person_logins", "sid", { text: "account sid network user_agent method", integer: "at" }),
  factors("person_networks", "account network", { text: "account network sid", integer: "last_at new_at" }),
  clients("client_codes", "digest", {
    text: `digest ${GRANT} redirect_uri challenge`,
    integer: "authenticated_at expires_at kept_until",
    boolean: "is_used is_revoked",
  }),
  clients("client_tokens", "digest", {
    text: `digest kind family ${GRANT}`,
    integer: "authenticated_at issued_at expires_at",
    boolean: "is_used",
  }),
  clients("client_sessions", "client sid", {
    text: "client sid user_id error",
    integer: "since attempts due_at ended_at",
    boolean: "is_failed",
  }),
  clients("client_consents", "user_id client", { text: "user_id client scope", integer: "at" }),
  clients("signing_keys", "id", { text: "id algorithm private_key", integer: "signs_from created_at" }),
  throttle("login_failures", "id", { integer: "id at", text: "bucket" }, { ...SQLITE, ...LARGE }),
  throttle("login_buckets", "bucket", { text: "bucket" }, POSTGRES),
  throttle(
    "login_places",
    "bucket attempt",
    { text: "bucket server", integer: "attempt at", boolean: "in_flight" },
    POSTGRES,
  ),
  throttle("known_addresses", "bucket", { text: "bucket", integer: "last_login_at" }, LARGE),
  events(
    "tally",
    "route",
    { text: "route", integer: `queued processed failed discarded queued_bytes ${COUNTED} ids` },
    { sqlite: columnsOf({ integer: `routed_to queued processed failed discarded ${COUNTED} removed` }) },
  ),
  events("route_tally", "route", { text: "route", integer: "queued processed failed discarded" }, SQLITE),
  events("metadata", "key", { text: "key value" }, LEFT),
  nodes("nodes", "id", { text: "id" }, { ...POSTGRES, ...LEFT }),
  nodes("leases", "name", { text: "name" }, { ...POSTGRES, ...LEFT }),
];

/** The tables of a store. */
export const tablesIn = (store: "sqlite" | "postgres") => TABLES.filter(({ only = store }) => only === store);

/** The tables with rows of an event, which are removed with it. */
export const TABLES_OF_EVENT = TABLES.filter(({ ofEvent }) => ofEvent).map(({ name }) => name);

/** The key of the last row of a page, bytes in hex. Null is before the first row. */
export type Position = readonly (number | string)[] | null;

/** The next rows of a table. */
export interface CopiedRows {
  count: number;
  /** The values of each column, in the order of the table's columns. */
  columns: unknown[][];
  last: Position;
}

/** The values of a position, with bytes decoded. */
export function keyValues({ key, columns }: CopiedTable, position: Position): (number | string | Buffer)[] {
  const isBytes = (index: number) => columns[key[index] as string] === "bytes";
  return (position ?? []).map((value, index) => (isBytes(index) ? Buffer.from(String(value), "hex") : value));
}

/** The position of a row with these key values. */
export function positionOf(values: readonly unknown[]): Position {
  return values.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value)) as Position;
}
