import { hash } from "node:crypto";
import type { EventPayload, PendingEvent } from "../events/store.ts";
import { endsWithin } from "../lib/bounded.ts";
import { canonicalText, ExactNumber } from "../lib/exact-json.ts";
import { type EventContent, type Unmet, unmetOf } from "./conditions.ts";
import { JUDGING_TIMEOUT_MS } from "./judging.ts";
import type { Route } from "./route.ts";

/** A job that an event needs. */
export interface RoutedJob {
  route: string;
  /** How long after the receipt the job is due. */
  delayMs: number;
  orderingKey: string | null;
  /** Why the route could not judge the event: the job is a dead letter from the start. */
  failure?: string;
}

type RoutedBy = Pick<PendingEvent, "source" | "type">;

/** Opens a payload and its headers. */
export type OpenPayload = (payload: EventPayload) => EventContent;

// Keys are in an index. Longer ones are replaced by their digest.
const MAX_KEY_LENGTH = 256;

/** Prepares the routing of some routes. */
export function createRouting(routes: readonly Route[], openPayload: OpenPayload) {
  const compiled = routes.map(compile);
  const candidates = ({ source, type }: RoutedBy) =>
    compiled.filter((route) => isOfSource(route, source) && route.takes(type));

  return {
    /** Whether a route that may take the event looks into its payload. */
    readsPayload: (event: RoutedBy) => candidates(event).some(looksInside),
    /** The jobs of an event. `payload` is null if it was not read, or cannot be. */
    jobsOf(event: RoutedBy, payload: EventPayload | null): RoutedJob[] {
      const found = candidates(event);
      if (payload === null) return found.map(({ name, delayMs }) => ({ route: name, delayMs, orderingKey: null }));
      const content = openPayload(payload);
      return found
        .filter(({ when }) => unmetOf(when, content) === null)
        .map(({ name, delayMs, orderBy }) => ({
          route: name,
          delayMs,
          orderingKey: orderBy === null ? null : keyOf(content.member(orderBy)),
        }));
    },
    /** The jobs of an event that could not be judged: those of routes that look into the payload are dead letters. */
    setAside: (event: RoutedBy, failure: string) =>
      candidates(event).map(({ name, delayMs, ...route }) => ({
        ...{ route: name, delayMs, orderingKey: null },
        ...(looksInside(route) && { failure }),
      })),
  };
}

/** Decides which routes process an event. */
export type Routing = ReturnType<typeof createRouting>;

/** Whether a route looks into payloads. */
export const looksInside = ({ when, orderBy }: Pick<Route, "when" | "orderBy">) => when.length > 0 || orderBy !== null;

/** A route, and the first of its conditions that an event does not meet; null if the route takes the event. */
export interface RouteVerdict extends Pick<Unmet, "expected" | "found"> {
  route: string;
  unmet: "origin" | "source" | "types" | "time" | `when ${string}` | null;
}

/**
 * Says of each route whether it would take an event, and why not. `takesNone`: the event was read from an API, and its
 * source gives such events to no route.
 */
export function explainRouting(
  routes: readonly Route[],
  event: RoutedBy,
  content: EventContent,
  { takesNone = false } = {},
): RouteVerdict[] {
  if (takesNone) return routes.map(({ name }) => ({ route: name, ...OF_API }));
  return createExplanation(routes)(event, content);
}

const OF_API = { unmet: "origin", expected: "delivery", found: "api" } as const;

/** Whether one of the routes would take an event. */
export function isTaken(routes: readonly Route[], event: RoutedBy, content: EventContent): boolean {
  return explainRouting(routes, event, content).some(({ unmet }) => unmet === null);
}

/** Prepares {@link explainRouting} for many events. */
export function createExplanation(
  routes: readonly Route[],
): (event: RoutedBy, content: EventContent) => RouteVerdict[] {
  const compiled = routes.map(compile);
  return (event, content) => {
    const verdicts: RouteVerdict[] = [];
    const judge = () => {
      for (const route of compiled) verdicts.push(verdictOf(route, event, content));
    };
    if (!compiled.some(({ when }) => when.length > 0)) judge();
    else endsWithin(JUDGING_TIMEOUT_MS, judge);
    for (const route of compiled.slice(verdicts.length)) {
      const verdict = verdictOf({ ...route, when: [] }, event, content);
      verdicts.push(verdict.unmet === null && route.when.length > 0 ? { ...verdict, ...TOO_LONG } : verdict);
    }
    return verdicts;
  };
}

const TOO_LONG = {
  unmet: "time",
  expected: `at most ${JUDGING_TIMEOUT_MS / 1000} s`,
  found: `over ${JUDGING_TIMEOUT_MS / 1000} s`,
} as const;

function verdictOf(route: Compiled, { source, type }: RoutedBy, content: EventContent): RouteVerdict {
  const { name, sources, types, when } = route;
  if (!isOfSource(route, source))
    return { route: name, unmet: "source", expected: (sources ?? []).join(" or "), found: source };
  if (!route.takes(type)) return { route: name, unmet: "types", expected: types.join(", "), found: type };
  const unmet = unmetOf(when, content);
  if (unmet === null) return { route: name, unmet, expected: null, found: null };
  return { route: name, unmet: `when ${unmet.condition}`, expected: unmet.expected, found: unmet.found };
}

/** Why a route does not take an event, as text; null if it takes it. */
export function reasonOf({
  unmet,
  expected,
  found,
}: Record<"unmet" | "expected" | "found", string | null>): string | null {
  if (unmet === null) return null;
  if (expected === null) return `${unmet} does not hold`;
  return `${unmet} is ${found ?? "missing"}, expected ${expected}`;
}

type Compiled = Route & { takes: (type: string) => boolean };

const compile = (route: Route): Compiled => ({ ...route, takes: typeMatcher(route.types) });

const isOfSource = ({ sources }: Route, source: string) => sources === null || sources.includes(source);

/** Matches types against globs. A glob with `!` excludes, whatever its place in the list. */
function typeMatcher(globs: readonly string[]): (type: string) => boolean {
  const included = globs.filter((glob) => !glob.startsWith("!")).map(globPattern);
  const excluded = globs.filter((glob) => glob.startsWith("!")).map((glob) => globPattern(glob.slice(1)));
  return (type) =>
    (included.length === 0 || included.some((pattern) => pattern.test(type))) &&
    !excluded.some((pattern) => pattern.test(type));
}

/** `*` is any text, and `?` any character. */
function globPattern(glob: string): RegExp {
  const text = glob
    .replace(/[\\^$.|+()[\]{}/]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${text}$`, "su");
}

/** The ordering key that a member is; null if it is no text, number or boolean. */
function keyOf(found: unknown): string | null {
  const value = found instanceof ExactNumber ? canonicalText(found) : found;
  if (value === null || !["string", "number", "boolean"].includes(typeof value)) return null;
  // SQLite and PostgreSQL do not compare ill-formed texts and texts with U+0000 as JavaScript does.
  const key = String(value).toWellFormed().replaceAll("\0", "\uFFFD");
  return key.length <= MAX_KEY_LENGTH ? key : `sha256:${hash("sha256", key)}`;
}
