import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Progress, runSteps, type Step } from "../bulk.ts";

/** Where a replay or discard is: it counts, asks, runs, and is over. */
type Phase = "counting" | "asking" | "running" | "over";

/** The count and the run of a replay or discard. */
export interface Run {
  phase: Signal<Phase>;
  progress: Signal<Progress>;
  /** Why it ended early; null if it did not fail. */
  failure: Signal<unknown>;
  isStopped: Signal<boolean>;
  begin(phase: "counting" | "running", steps: readonly Step[], next: Phase): Promise<void>;
  stop(): void;
}

/** A run that begins with asking if the number of events is known, else with counting. It stops with its component. */
export function useRun(known: number | undefined): Run {
  const phase = useSignal<Phase>(known === undefined ? "counting" : "asking");
  const progress = useSignal<Progress>({ matched: known ?? 0, refused: [] });
  const failure = useSignal<unknown>(null);
  const isStopped = useSignal(false);
  const running = useSignal(new AbortController());
  const stop = () => running.value.abort();
  useEffect(() => stop, []);
  return {
    phase,
    progress,
    failure,
    isStopped,
    stop,
    async begin(now, steps, next) {
      running.value = new AbortController();
      const { signal } = running.value;
      phase.value = now;
      progress.value = { matched: 0, refused: [] };
      try {
        await runSteps(steps, signal, (done) => {
          progress.value = done;
        });
        phase.value = next;
      } catch (error) {
        if (signal.aborted) isStopped.value = true;
        else failure.value = error;
        phase.value = "over";
      }
    },
  };
}
