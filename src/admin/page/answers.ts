import type { InferOutput } from "valibot";
import type * as schemas from "../schemas.ts";

// What the API takes and answers, derived from its schemas.

type Answer<Name extends keyof typeof schemas> = InferOutput<(typeof schemas)[Name]>;

export type Status = Answer<"StatusAnswer">;
export type RouteItem = Status["routes"][number];
export type Stats = Answer<"StatsAnswer">;
export type EventsPage = Answer<"EventsAnswer">;
export type EventItem = EventsPage["items"][number];
export type EventDetail = Answer<"EventAnswer">;
export type Job = EventDetail["jobs"][number];
export type JobsPage = Answer<"JobsAnswer">;
export type ErrorsPage = Answer<"ErrorsAnswer">;
export type ErrorGroup = ErrorsPage["items"][number];
export type Source = Answer<"SourceItem">;
export type Alert = Answer<"AlertItem">;
export type Session = Answer<"SessionAnswer">;
export type Taken = Answer<"TakenAnswer">;

/** Selects events, as the query of their list does. */
export interface EventFilter {
  status?: string;
  type?: string;
  source?: string;
  since?: string;
  until?: string;
  search?: string;
  error?: string;
}

/** Selects what a replay or discard takes. */
export type Selection = { ids: string[]; source: string } | { filter: EventFilter & { route?: string } };

export type BulkAction = "replay" | "discard";
