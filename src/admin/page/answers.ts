import type { InferOutput } from "valibot";
import type { DenialItem } from "../../operations/access.ts";
import type { AlertItem, TestedAnswer } from "../../operations/alerts.ts";
import type { AuditAnswer } from "../../operations/audit.ts";
import type { discard } from "../../operations/discard.ts";
import type * as events from "../../operations/events.ts";
import type { ExplanationAnswer } from "../../operations/explanation.ts";
import type * as held from "../../operations/held.ts";
import type * as jobs from "../../operations/jobs.ts";
import type { OutputOf } from "../../operations/operation.ts";
import type { OutagesAnswer } from "../../operations/outages.ts";
import type { RouteAnswer } from "../../operations/routes.ts";
import type { SessionAnswer } from "../../operations/session.ts";
import type {
  AddedAnswer,
  DraftAnswer,
  PresetAnswer,
  PresetsAnswer,
  SecretAnswer,
  SentAnswer,
} from "../../operations/setup.ts";
import type { DifferencesAnswer, ShadowsAnswer } from "../../operations/shadows.ts";
import type { SourceItem } from "../../operations/sources.ts";
import type { StatsAnswer, StatusAnswer } from "../../operations/status.ts";
import type { CreatedAnswer, TokensAnswer } from "../../operations/tokens.ts";

// What the API takes and answers, derived from its schemas.

export type Status = InferOutput<typeof StatusAnswer>;
export type RouteItem = Status["routes"][number];
export type Route = InferOutput<typeof RouteAnswer>;
export type Stats = InferOutput<typeof StatsAnswer>;
export type EventsPage = OutputOf<typeof events.listed>;
export type EventItem = EventsPage["items"][number];
export type EventDetail = OutputOf<typeof events.shown>;
export type Job = EventDetail["jobs"][number];
export type AuditList = InferOutput<typeof AuditAnswer>;
export type JobsPage = OutputOf<typeof jobs.listed>;
export type OpenJobItem = JobsPage["items"][number];
export type ErrorsPage = OutputOf<typeof jobs.errors>;
export type ErrorGroup = ErrorsPage["items"][number];
export type Shadow = InferOutput<typeof ShadowsAnswer>["items"][number];
export type ShadowDifference = InferOutput<typeof DifferencesAnswer>["items"][number];
export type Source = InferOutput<typeof SourceItem>;
export type PresetList = InferOutput<typeof PresetsAnswer>;
export type Preset = InferOutput<typeof PresetAnswer>;
export type ShownSecret = InferOutput<typeof SecretAnswer>;
export type Sent = InferOutput<typeof SentAnswer>;
export type Draft = InferOutput<typeof DraftAnswer>;
export type Added = InferOutput<typeof AddedAnswer>;
export type HeldPageAnswer = OutputOf<typeof held.listed>;
export type HeldItem = HeldPageAnswer["items"][number];
export type RecentRefusal = OutputOf<typeof held.refusals>["items"][number];
export type HeldDetail = OutputOf<typeof held.shown>;
export type Explanation = InferOutput<typeof ExplanationAnswer>;
export type Reverified = OutputOf<typeof held.reverify>;
export type Removed = OutputOf<typeof held.remove>;
export type Alert = InferOutput<typeof AlertItem>;
export type OutageList = InferOutput<typeof OutagesAnswer>;
export type Outage = OutageList["items"][number];
export type ReachableSource = OutageList["sources"][number];
export type TestedNotifier = InferOutput<typeof TestedAnswer>["items"][number];
export type Session = InferOutput<typeof SessionAnswer>;
export type Token = InferOutput<typeof TokensAnswer>["items"][number];
export type CreatedToken = InferOutput<typeof CreatedAnswer>;
export type Denial = InferOutput<typeof DenialItem>;
export type Taken = OutputOf<typeof discard>;

/** Selects events, as the query of their list does. */
export interface EventFilter {
  status?: string;
  type?: string;
  source?: string;
  route?: string;
  since?: string;
  until?: string;
  search?: string;
  error?: string;
}

/** Selects what a replay or discard takes. */
export type Selection = { ids: string[]; source: string } | { filter: EventFilter };

/** A source of a preset to add. `values` are what it needs, such as its secret. */
export interface NewSource {
  name: string;
  preset: string;
  expectEvery?: string | undefined;
  values: Record<string, string>;
}

/** `resend`: to all present routes, whatever became of the events. */
export type BulkAction = "replay" | "resend" | "discard";
