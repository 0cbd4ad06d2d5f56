import { MINUTE_MS } from "../../lib/durations.ts";
import { catchUpOf } from "../catch-up/adapters.ts";
import type { CatchUpStore } from "../catch-up/store.ts";
import { providerOf } from "../providers/index.ts";
import type { Source } from "../source.ts";
import { MIN_GAP_MS, merged, type Outage, type OutageKind } from "./outage.ts";
import { type AffectedSource, effectOn, type OutageReport, repeatsOf } from "./report.ts";
import type { OutageStore } from "./store.ts";

/** What outages are read from. */
interface OutageStores {
  outages: Pick<OutageStore, "list" | "lastBeat">;
  catchUps: Pick<CatchUpStore, "state" | "missed">;
}

type ReadSource = Pick<Source, "name" | "preset" | "schemes" | "catchUp">;

interface OutageLimits {
  since: number;
  now: number;
  /** The kind of an outage that goes on, if there are no heartbeats any more. Without it, none is looked for. */
  ongoing?: OutageKind;
}

// Clocks of several servers differ.
const AHEAD_MS = MINUTE_MS;

/** The outages that had not ended at a time (Unix milliseconds), the oldest first, and what each means for sources. */
export async function readOutages(
  stores: OutageStores,
  sources: readonly ReadSource[],
  { since, now, ongoing }: OutageLimits,
): Promise<OutageReport[]> {
  // What ends in the future is the mistake of a clock that was ahead.
  const ended = (await stores.outages.list(since)).filter(({ to }) => to <= now + AHEAD_MS);
  const last = ongoing === undefined ? null : await stores.outages.lastBeat();
  const isAway = last !== null && last < now - MIN_GAP_MS;
  const outages = merged(ongoing && isAway ? [...ended, { kind: ongoing, from: last, to: now }] : ended);
  if (outages.length === 0) return [];
  const known = await Promise.all(sources.map((source) => knownOf(stores, source)));
  return Promise.all(
    outages.map(async (outage) => {
      const affected = await Promise.all(known.map((source) => withMissed(stores, source, outage)));
      return { ...outage, sources: affected.map((source) => effectOn(outage, source, now)) };
    }),
  );
}

/** What can be done about what a source has missed, whatever the outage. Times are Unix milliseconds. */
interface Reach extends ReturnType<typeof repeatsOf> {
  name: string;
  /** The title of the provider; null without a preset. */
  provider: string | null;
  /** For how long the provider can be asked; null if unknown. */
  keepsDays: number | null;
  catchUp: AffectedSource["catchUp"];
  /** When the last catch-up ended, up to when one has looked, and why the last one was broken off. */
  ranAt: number | null;
  coveredUntil: number | null;
  error: string | null;
}

/** Reads what can be done about what a source has missed. */
export async function readReach(catchUps: Pick<CatchUpStore, "state">, source: ReadSource): Promise<Reach> {
  const { name, preset, catchUp } = source;
  const provider = providerOf(preset);
  const state = catchUp === undefined ? null : await catchUps.state(name);
  return {
    name,
    provider: provider?.title ?? null,
    ...repeatsOf(provider?.facts),
    keepsDays: provider?.facts?.keepsDays?.is ?? null,
    catchUp: catchUpState(source),
    ranAt: state?.ranAt ?? null,
    coveredUntil: state?.coveredUntil ?? null,
    error: state?.error ?? null,
  };
}

/** Whether a source catches up, or could. Who signs as Svix does need not give its customers a token for its API. */
function catchUpState({ preset, catchUp }: ReadSource): AffectedSource["catchUp"] {
  if (catchUp !== undefined) return "configured";
  return providerOf(preset)?.catchUp === undefined ? "none" : "possible";
}

/** What is known of a source, whatever the outage. */
type KnownSource = Omit<AffectedSource, "missed"> & { tellsTimes: boolean };

async function knownOf({ catchUps }: OutageStores, source: ReadSource): Promise<KnownSource> {
  const { name, preset, catchUp } = source;
  const adapter = catchUpOf(source);
  const state = catchUp === undefined ? null : await catchUps.state(name);
  return {
    name,
    facts: providerOf(preset)?.facts,
    catchUp: catchUpState(source),
    coveredUntil: state?.coveredUntil ?? null,
    tellsTimes: !adapter?.hasNoTimes,
  };
}

async function withMissed(
  { catchUps }: OutageStores,
  { tellsTimes, ...source }: KnownSource,
  { from, to }: Outage,
): Promise<AffectedSource> {
  const isCaughtUp = source.coveredUntil !== null && source.coveredUntil >= to;
  return { ...source, missed: isCaughtUp && tellsTimes ? await catchUps.missed(source.name, from, to) : null };
}
