import { untilDone } from "../../until-done.ts";
import type { SessionStore } from "./store.ts";

/**
 * A session store that needs a step to be done first. Until the step has succeeded every call waits for it, fails when
 * it fails, and the next call tries it again.
 */
export function afterStep(step: () => Promise<void>, sessions: SessionStore): SessionStore {
  const done = untilDone(step);
  const first =
    <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      done()?.then(() => run(...args)) ?? run(...args);

  return {
    replace: first(sessions.replace),
    current: first(sessions.current),
    find: first(sessions.find),
    supersession: first(sessions.supersession),
    removeIf: first(sessions.removeIf),
    remove: first(sessions.remove),
    bind: first(sessions.bind),
    check: first(sessions.check),
  };
}
