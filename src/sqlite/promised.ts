import { guarded } from "./database.ts";

/** A port whose methods return their results instead of promises, for an adapter that never waits. */
export type Sync<Port> = {
  [Method in keyof Port]: Port[Method] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never;
};

type Methods = [string, (...args: unknown[]) => unknown][];

/** A store whose methods throw `store_unavailable` when SQLite fails. */
export function guardedMethods<Store extends object>(store: Store): Store {
  const methods = Object.entries(store) as Methods;
  return Object.fromEntries(
    methods.map(([name, run]) => [name, (...args: unknown[]) => guarded(() => run(...args))]),
  ) as Store;
}

/** Makes a port of its synchronous form: each method resolves with what it returned, or rejects with what it threw. */
export function promised<Port extends object>(sync: Sync<Port>): Port {
  const methods = Object.entries(guardedMethods(sync)) as Methods;
  return Object.fromEntries(methods.map(([name, run]) => [name, async (...args: unknown[]) => run(...args)])) as Port;
}
