import type { SessionStore } from "./store.ts";

/**
 * A session store behind a step that must have been done before anything else is: until then each call does the step
 * first, and fails when it fails. It is done anew when `turn` is another than it was.
 */
export function afterStep(step: () => Promise<void>, sessions: SessionStore, turn = () => 0): SessionStore {
  let doneAt = -1;
  let underWay: Promise<void> | null = null;

  async function done(): Promise<void> {
    const at = turn();
    underWay ??= step();
    try {
      await underWay;
      doneAt = at;
    } finally {
      underWay = null;
    }
  }
  const first =
    <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      doneAt === turn() ? run(...args) : done().then(() => run(...args));

  return {
    replace: first(sessions.replace),
    current: first(sessions.current),
    find: first(sessions.find),
    supersession: first(sessions.supersession),
    removeIf: first(sessions.removeIf),
    remove: first(sessions.remove),
    bind: first(sessions.bind),
    check: first(sessions.check),
    close: sessions.close,
  };
}
