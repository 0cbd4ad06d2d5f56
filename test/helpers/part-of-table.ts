/** The part of `/readyz` whose check tries each table, on either store. The other tables belong to `events`. */
const PARTS: Record<string, string> = {
  sessions: "sessions",
  supersessions: "sessions",
  login_failures: "throttle",
  login_buckets: "throttle",
  login_places: "throttle",
  known_addresses: "throttle",
  source_counts: "sources",
  source_secrets: "sources",
  source_refusals: "sources",
  held: "held",
  held_tally: "held",
  alerts: "alerts",
  alert_silences: "alerts",
  alert_messages: "alerts",
  nodes: "nodes",
  leases: "nodes",
};

export const partOfTable = (table: string): string => PARTS[table] ?? "events";
