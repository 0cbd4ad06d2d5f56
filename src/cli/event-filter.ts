import type { EventFilter } from "../events/store.ts";
import { parseTime } from "./time.ts";

/** The options that select events, in lists and in commands that take many. */
export interface FilterOptions {
  source?: string;
  type?: string;
  since?: string;
  until?: string;
  error?: string;
}

/** Reads the options. Throws an `OperatorError` that names a time that is not usable. */
export function eventConditions(
  { source, type, since, until, error }: FilterOptions,
  now: number,
): Pick<EventFilter, keyof FilterOptions> {
  return {
    ...(source === undefined ? {} : { source }),
    ...(type === undefined ? {} : { type }),
    ...(since === undefined ? {} : { since: parseTime("--since", since, now) }),
    ...(until === undefined ? {} : { until: parseTime("--until", until, now) }),
    ...(error === undefined ? {} : { error }),
  };
}
