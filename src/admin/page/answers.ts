import type { DeclaredOperation } from "../../operations/endpoints.ts";
import type { InputOf, OutputOf } from "../../operations/operation.ts";

// What the API takes and answers, by path. Only types are imported: the page has no code of the server.

/** A path as the page asks for it: a parameter may be given in the query. */
type Asked<Path extends string> = Path extends `${infer Start}:${string}` ? `${Start}-` : Path;

/** The operations that read, by path. */
export type Readings = {
  [One in Extract<DeclaredOperation, { kind: "reading" }> as Asked<One["path"]>]: One;
};

/** The operations that change something, by path. */
export type Changes = { [One in Extract<DeclaredOperation, { kind: "change" }> as One["path"]]: One };

/** What a reading answers. */
export type Answer<Path extends keyof Readings> = OutputOf<Readings[Path]>;

/** What a change takes, and what it answers. */
export type Body<Path extends keyof Changes> = InputOf<Changes[Path]>;
export type Outcome<Path extends keyof Changes> = OutputOf<Changes[Path]>;

/** The query of a reading. A number becomes a text. */
export type QueryOf<Path extends keyof Readings> = {
  [Name in keyof InputOf<Readings[Path]>]: InputOf<Readings[Path]>[Name] | (Name extends "limit" ? number : never);
};

export type Status = Answer<"status">;
export type RouteItem = Status["routes"][number];
export type Route = Answer<"routes/one">;
export type Stats = Answer<"stats">;
export type EventsPage = Answer<"events">;
export type EventItem = EventsPage["items"][number];
export type EventDetail = Answer<"events/-">;
export type Job = EventDetail["jobs"][number];
export type OpenJobItem = Answer<"jobs">["items"][number];
export type ErrorGroup = Answer<"jobs/errors">["items"][number];
export type Shadow = Answer<"shadows">["items"][number];
export type ShadowDifference = Answer<"shadows/differences">["items"][number];
export type Source = Answer<"sources">["items"][number];
export type Preset = Answer<"presets/one">;
export type Draft = Outcome<"sources/draft">;
export type HeldItem = Answer<"held">["items"][number];
export type RecentRefusal = Answer<"refusals">["items"][number];
export type HeldDetail = Answer<"held/one">;
export type Explanation = Outcome<"sources/explain">;
export type AlertList = Answer<"alerts">;
export type Alert = AlertList["items"][number];
export type Telling = NonNullable<Alert["told"]>[number];
export type OutageList = Answer<"outages">;
export type Outage = OutageList["items"][number];
export type ReachableSource = OutageList["sources"][number];
export type TestedNotifier = Outcome<"alerts/test">["items"][number];
export type Session = Answer<"session">;
export type ClientApp = Answer<"clients">["items"][number];
export type Token = Answer<"tokens">["items"][number];
export type CreatedToken = Outcome<"tokens">;
export type Taken = Outcome<"events/discard">;

/** Selects events, as the query of their list does. */
export type EventFilter = Omit<QueryOf<"events">, "limit" | "cursor" | "after">;

/** Selects what a replay or discard takes. */
export type Selection =
  | { ids: string[]; source: string }
  | { filter: NonNullable<Body<"events/replay">["filter"] & Body<"events/discard">["filter"]> };

/** A source of a preset to add. `values` are what it needs, such as its secret. */
export type NewSource = Body<"sources/draft">;

/** `resend`: to all present routes, whatever became of the events. */
export type BulkAction = "replay" | "resend" | "discard";
