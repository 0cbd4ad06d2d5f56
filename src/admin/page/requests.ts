import type { Body, BulkAction, NewSource, QueryOf, Selection } from "./answers.ts";
import { apiUrl, get, post } from "./api.ts";

export const readStatus = (signal?: AbortSignal) => get("status", {}, signal);
export const readSources = (signal?: AbortSignal) => get("sources", {}, signal);
export const readAlerts = (signal?: AbortSignal) => get("alerts", {}, signal);
export const readOutages = (signal?: AbortSignal) => get("outages", {}, signal);
export const beginCatchUp = (source: string) => post("sources/catch-up", { source });
export const readAudit = (signal?: AbortSignal) => get("audit", { limit: 200 }, signal);
export const readSession = (signal?: AbortSignal) => get("session", {}, signal);

export const readStats = (query: QueryOf<"stats">, signal?: AbortSignal) => get("stats", query, signal);

export const listEvents = (query: QueryOf<"events">, signal?: AbortSignal) => get("events", query, signal);

// The id is in the query: browsers take `..` for a step in the path, and a proxy may decode a slash.
const EVENT = "events/-";

export const readEvent = (id: string, source: string | undefined, signal?: AbortSignal) =>
  get(EVENT, { source, id }, signal);

export const payloadUrl = ({ eventId, source }: { eventId: string; source: string }) =>
  apiUrl(`${EVENT}/payload`, { source, id: eventId });

export const listJobs = (query: QueryOf<"jobs">, signal?: AbortSignal) => get("jobs", query, signal);

export const readErrors = (route: string | undefined, cursor: string | undefined, signal?: AbortSignal) =>
  get("jobs/errors", { route, cursor }, signal);

/** Counts what a replay or discard would take. */
export const countMatches = (
  action: BulkAction,
  selection: Selection,
  cursor: string | undefined,
  signal: AbortSignal,
) => {
  const reason = action === "discard" ? { reason: "dry run" } : {};
  return post(
    action === "discard" ? "events/discard" : "events/replay",
    { ...selection, ...reason, dryRun: true, cursor },
    signal,
  );
};

export const replay = (selection: Selection, cursor: string | undefined, signal: AbortSignal) =>
  post("events/replay", { ...selection, cursor }, signal);

export const resend = (selection: Selection, signal: AbortSignal) =>
  post("events/replay", { ...selection, force: true }, signal);

export const discard = (selection: Selection, reason: string, cursor: string | undefined, signal: AbortSignal) =>
  post("events/discard", { ...selection, reason, cursor }, signal);

export const readRoute = (name: string, signal?: AbortSignal) => get("routes/one", { name }, signal);
export const readShadows = (signal?: AbortSignal) => get("shadows", {}, signal);
export const readDifferences = (name: string, signal?: AbortSignal) => get("shadows/differences", { name }, signal);
export const tryRoute = (route: string) => post("routes/try", { route });
export const pauseRoute = (route: string, forMs: number | undefined) => post("routes/pause", { route, forMs });
export const resumeRoute = (route: string) => post("routes/resume", { route });

export const listHeld = (query: QueryOf<"held">, signal?: AbortSignal) => get("held", query, signal);
export const readRefusals = (signal?: AbortSignal) => get("refusals", {}, signal);
export const readHeld = (id: string, signal?: AbortSignal) => get("held/one", { id }, signal);
export const reverifyHeld = (ids: number[]) => post("held/reverify", { ids });
export const removeHeld = (ids: number[]) => post("held/remove", { ids });
export const explainRequest = (body: Body<"sources/explain">) => post("sources/explain", body);

export const listPresets = (signal?: AbortSignal) => get("presets", {}, signal);
export const readPreset = (name: string, signal?: AbortSignal) => get("presets/one", { name }, signal);
export const showSecret = (source: string) => post("sources/secret", { source });
export const sendSample = (source: string) => post("sources/send", { source });
export const draftSource = (source: NewSource) => post("sources/draft", source);

export const silence = (body: Body<"alerts/silence">) => post("alerts/silence", body);
export const unsilence = (name?: string) => post("alerts/unsilence", name ? { name } : {});

export const testAlerts = () => post("alerts/test", {});

export const readTokens = (signal?: AbortSignal) => get("tokens", {}, signal);
export const createToken = (body: Body<"tokens">) => post("tokens", body);
export const revokeToken = (name: string) => post("tokens/revoke", { names: [name] });

export const readDenials = (signal?: AbortSignal) => get("access/denials", {}, signal);

export const readClients = (signal?: AbortSignal) => get("clients", {}, signal);
export const retryLogouts = (name: string) => post("clients/retry", { name });
export const revokeSession = () => post("session/revoke", {});

/** Erases the content of an event. */
export const eraseEvent = ({ eventId, source }: { eventId: string; source: string }, reason: string) =>
  post("events/erase", { ids: [eventId], source, reason });
