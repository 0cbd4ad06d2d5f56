/** The page of the manual about each view; `admin-page` is about the others. */
export const MANUAL: Record<string, string> = {
  events: "events",
  event: "events",
  "dead-letters": "events",
  refused: "troubleshooting",
  explain: "troubleshooting",
  routes: "routes",
  sources: "receive-webhooks",
  "add-source": "receive-webhooks",
  outages: "catch-up",
  alerts: "monitoring",
  tokens: "tokens-and-access",
  denied: "tokens-and-access",
  audit: "private-payloads",
  session: "second-factor",
};

/** The page of the manual to read about a view. */
export const manualPageOf = (view: string): string => MANUAL[view] ?? "admin-page";
