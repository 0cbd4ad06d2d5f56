import type { Taken } from "./answers.ts";

/** What a replay or discard has taken so far. */
export interface Progress {
  matched: number;
  refused: Taken["refused"];
}

/** One request of a replay or discard, repeated with the cursor of its answer until that is null. */
export type Step = (cursor: string | undefined, signal: AbortSignal) => Promise<Taken>;

/** Runs steps one after the other, and tells what has been taken after each request. Throws if `signal` aborts. */
export async function runSteps(
  steps: readonly Step[],
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Progress> {
  let progress: Progress = { matched: 0, refused: [] };
  for (const step of steps) {
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const taken: Taken = await step(cursor, signal);
      progress = { matched: progress.matched + taken.matched, refused: [...progress.refused, ...taken.refused] };
      onProgress(progress);
      signal.throwIfAborted();
      cursor = taken.cursor;
    }
  }
  return progress;
}

// A request may have 256 KiB, and an id 1000 characters.
const MAX_IDS = 50;

/** Splits chosen events into selections: each names events of one source. */
export function selectionsOf(
  events: readonly { source: string; eventId: string }[],
): { ids: string[]; source: string }[] {
  return [...Map.groupBy(events, ({ source }) => source)].flatMap(([source, all]) => {
    const ids = all.map(({ eventId }) => eventId);
    return Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, index) => ({
      ids: ids.slice(index * MAX_IDS, (index + 1) * MAX_IDS),
      source,
    }));
  });
}
