import { DAY_MS } from "../../lib/durations.ts";
import { durationText } from "../../lib/figures.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { type ProviderFacts, repeatsAllForSeconds } from "../provider.ts";
import type { Outage } from "./outage.ts";

/** What an outage means for a source. Times are Unix milliseconds. */
interface SourceOutage {
  name: string;
  /** Whether its provider sends again what it could not deliver: by itself, or only when asked. */
  resends: "automatic" | "manual" | "unknown";
  /**
   * For how long the provider repeats each event by itself, in seconds: 0 if some types are never repeated, null if it
   * does not or if that is unknown.
   */
  resendsForSeconds: number | null;
  /** Until when the first of the missed deliveries is repeated, or can be asked for; null if unknown. */
  until: number | null;
  /** How many missed events a catch-up has found; null if there was none since. */
  missed: number | null;
  /** Whether events may be lost if nobody does anything. */
  isAtRisk: boolean;
  /** What to do; null if nothing. */
  remedy: string | null;
}

/** An outage, and what it means for each source. */
export interface OutageReport extends Outage {
  sources: SourceOutage[];
}

/** A source, with what is known of its provider. Times are Unix milliseconds. */
export interface AffectedSource {
  name: string;
  facts: ProviderFacts | undefined;
  /** Whether `catchUp` is configured, or could be. */
  catchUp: "configured" | "possible" | "none";
  /** Up to when a catch-up has looked; null if there was none. */
  coveredUntil: number | null;
  /** The number of missed events of the outage that a catch-up has found; null if it cannot tell. */
  missed: number | null;
}

/** Whether a provider repeats by itself, and for how long each event in seconds; null if that is unknown. */
export function repeatsOf(facts: ProviderFacts | undefined): Pick<SourceOutage, "resends" | "resendsForSeconds"> {
  const repeats = facts?.repeats?.is;
  if (repeats === "automatic") return { resends: repeats, resendsForSeconds: repeatsAllForSeconds(facts) ?? null };
  return { resends: repeats === undefined ? "unknown" : "manual", resendsForSeconds: null };
}

/** Says what an outage means for a source. */
export function effectOn(outage: Outage, source: AffectedSource, now: number): SourceOutage {
  const { name, facts, coveredUntil } = source;
  const repeats = facts?.repeats?.is;
  const { resends, resendsForSeconds } = repeatsOf(facts);
  const untilMs =
    resendsForSeconds !== null ? resendsForSeconds * 1000 : repeats === "automatic" ? null : keptMs(facts);
  const until = untilMs === null ? null : outage.from + untilMs;
  const isCaughtUp = coveredUntil !== null && coveredUntil >= outage.to;
  const outlasted = resendsForSeconds !== null && outage.to - outage.from > resendsForSeconds * 1000;
  // Nearly all providers repeat, so one that says nothing is taken to do so after some seconds.
  const mayNotRepeat = resends === "manual" || (resends === "unknown" && outage.kind !== "restart");
  const isAtRisk = !isCaughtUp && (mayNotRepeat || outlasted);
  return {
    name,
    resends,
    resendsForSeconds,
    until,
    missed: isCaughtUp ? source.missed : null,
    isAtRisk,
    remedy: isAtRisk ? remedyOf(source, until, now) : null,
  };
}

const keptMs = (facts: ProviderFacts | undefined) => (facts?.keepsDays ? facts.keepsDays.is * DAY_MS : null);

function remedyOf({ name, facts, catchUp }: AffectedSource, until: number | null, now: number): string {
  if (facts?.repeats?.is === "never") return "its provider repeats nothing: read the missed data from its API";
  const isOver = until !== null && until < now && facts?.repeats?.is === "manual";
  if (isOver) return "the provider no longer has the first of them: read the missed data from its API";
  if (catchUp === "configured") return `authserve sources catch-up ${name}`;
  if (catchUp === "possible") return `set catchUp of ${name}, then authserve sources catch-up ${name}`;
  return "ask for the missed deliveries at the provider, or read the missed data from its API";
}

/** An outage in JSON output. Its members are stable. */
export function outageJson({ from, to, kind, sources }: OutageReport) {
  return {
    from: isoTime(from),
    to: isoTime(to),
    kind,
    sources: sources.map(({ name, resends, resendsForSeconds, until, missed, isAtRisk, remedy }) => ({
      name,
      resends,
      resendsForSeconds,
      until: isoTime(until),
      missed,
      atRisk: isAtRisk,
      remedy,
    })),
  };
}

/** The part of an outage that is told of it, e.g. `stopped for 4 h`. */
export function outageText({ kind, from, to }: Outage): string {
  return `${WORDS[kind]} for ${durationText(to - from)}`;
}

const WORDS: Record<Outage["kind"], string> = {
  stopped: "the server did not run",
  restart: "a planned restart stopped the server",
  store: "the store did not answer or refused writes",
  disk: "too little disk space was free",
  queue: "the queue was full or too old",
};
