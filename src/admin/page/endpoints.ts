import type {
  Added,
  Alert,
  AuditList,
  BulkAction,
  CreatedToken,
  Denial,
  Draft,
  ErrorsPage,
  EventDetail,
  EventFilter,
  EventsPage,
  Explanation,
  HeldDetail,
  HeldPageAnswer,
  JobsPage,
  NewSource,
  OutageList,
  Preset,
  PresetList,
  RecentRefusal,
  Removed,
  Reverified,
  Route,
  Selection,
  Sent,
  Session,
  Shadow,
  ShadowDifference,
  ShownSecret,
  Source,
  Stats,
  Status,
  Taken,
  TestedNotifier,
  Token,
} from "./answers.ts";
import { apiUrl, get, post } from "./api.ts";

type Paging = { limit?: number; cursor?: string | undefined };

export const readStatus = (signal?: AbortSignal) => get<Status>("status", {}, signal);
export const readSources = (signal?: AbortSignal) => get<{ items: Source[] }>("sources", {}, signal);
export const readAlerts = (signal?: AbortSignal) => get<{ items: Alert[] }>("alerts", {}, signal);
export const readOutages = (signal?: AbortSignal) => get<OutageList>("outages", {}, signal);
export const beginCatchUp = (source: string) => post<{ started: boolean }>("sources/catch-up", { source });
export const readAudit = (signal?: AbortSignal) => get<AuditList>("audit", { limit: 200 }, signal);
export const readSession = (signal?: AbortSignal) => get<Session>("session", {}, signal);

export const readStats = (
  query: { since: string; step: string; route?: string; source?: string },
  signal?: AbortSignal,
) => get<Stats>("stats", query, signal);

export const listEvents = (filter: EventFilter & Paging, signal?: AbortSignal) =>
  get<EventsPage>("events", { ...filter }, signal);

// The id is in the query: browsers take `..` for a step in the path, and a proxy may decode a slash.
const EVENT = "events/-";

export const readEvent = (id: string, source: string | undefined, signal?: AbortSignal) =>
  get<EventDetail>(EVENT, { source, id }, signal);

export const payloadUrl = ({ eventId, source }: { eventId: string; source: string }) =>
  apiUrl(`${EVENT}/payload`, { source, id: eventId });

export const listJobs = (
  query: { route: string; status: "failed" | "queued"; error?: string } & Paging,
  signal?: AbortSignal,
) => get<JobsPage>("jobs", { ...query }, signal);

export const readErrors = (route: string | undefined, cursor: string | undefined, signal?: AbortSignal) =>
  get<ErrorsPage>("jobs/errors", { route, cursor }, signal);

/** Counts what a replay or discard would take. */
export const countMatches = (
  action: BulkAction,
  selection: Selection,
  cursor: string | undefined,
  signal: AbortSignal,
) => {
  const reason = action === "discard" ? { reason: "dry run" } : {};
  return post<Taken>(
    action === "discard" ? "events/discard" : "events/replay",
    { ...selection, ...reason, dryRun: true, cursor },
    signal,
  );
};

export const replay = (selection: Selection, cursor: string | undefined, signal: AbortSignal) =>
  post<Taken>("events/replay", { ...selection, cursor }, signal);

export const resend = (selection: Selection, signal: AbortSignal) =>
  post<Taken>("events/replay", { ...selection, force: true }, signal);

export const discard = (selection: Selection, reason: string, cursor: string | undefined, signal: AbortSignal) =>
  post<Taken>("events/discard", { ...selection, reason, cursor }, signal);

export const readRoute = (name: string, signal?: AbortSignal) => get<Route>("routes/one", { name }, signal);
export const readShadows = (signal?: AbortSignal) => get<{ items: Shadow[] }>("shadows", {}, signal);
export const readDifferences = (name: string, signal?: AbortSignal) =>
  get<{ items: ShadowDifference[] }>("shadows/differences", { name }, signal);
export const tryRoute = (route: string) => post<{ changed: boolean }>("routes/try", { route });
export const pauseRoute = (route: string, forMs: number | undefined) =>
  post<{ changed: boolean }>("routes/pause", { route, forMs });
export const resumeRoute = (route: string) => post<{ changed: boolean }>("routes/resume", { route });

export const listHeld = (
  { source, limit, cursor }: { source: string | undefined; limit: number; cursor: string | undefined },
  signal?: AbortSignal,
) => get<HeldPageAnswer>("held", { source, limit, cursor }, signal);
export const readRefusals = (signal?: AbortSignal) => get<{ items: RecentRefusal[] }>("refusals", {}, signal);
export const readHeld = (id: string, signal?: AbortSignal) => get<HeldDetail>("held/one", { id }, signal);
export const reverifyHeld = (ids: readonly number[]) => post<Reverified>("held/reverify", { ids });
export const removeHeld = (ids: readonly number[]) => post<Removed>("held/remove", { ids });
export const explainRequest = (body: { source: string; request: string; at: string | undefined }) =>
  post<Explanation>("sources/explain", body);

export const listPresets = (signal?: AbortSignal) => get<PresetList>("presets", {}, signal);
export const readPreset = (name: string, signal?: AbortSignal) => get<Preset>("presets/one", { name }, signal);
export const showSecret = (source: string) => post<ShownSecret>("sources/secret", { source });
export const sendSample = (source: string) => post<Sent>("sources/send", { source });
export const draftSource = (source: NewSource) => post<Draft>("sources/draft", source);
export const addSource = (source: NewSource) => post<Added>("sources/add", source);

export const silence = (body: { name: string; labels: Record<string, string>; forMs: number; reason?: string }) =>
  post<{ until: string }>("alerts/silence", body);
export const unsilence = (name?: string) => post<{ removed: number }>("alerts/unsilence", name ? { name } : {});

export const testAlerts = () => post<{ items: TestedNotifier[] }>("alerts/test", {});

export const readTokens = (signal?: AbortSignal) => get<{ items: Token[] }>("tokens", {}, signal);
export const createToken = (body: { name: string; scopes: string[]; expiresInMs: number | null }) =>
  post<CreatedToken>("tokens", body);
export const revokeToken = (name: string) => post<{ revoked: number }>("tokens/revoke", { names: [name] });

export const readDenials = (signal?: AbortSignal) => get<{ items: Denial[] }>("access/denials", {}, signal);

export const revokeSession = () => post<{ revoked: boolean }>("session/revoke", {});

/** Erases the content of an event. */
export const eraseEvent = ({ eventId, source }: { eventId: string; source: string }, reason: string) =>
  post<Taken>("events/erase", { ids: [eventId], source, reason });
