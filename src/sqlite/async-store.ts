import { translateErrors } from "./database.ts";

/** The synchronous form of a port: each method returns its result instead of a promise. */
export type SyncPort<Port> = {
  [Method in keyof Port]: Port[Method] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never;
};

type Methods = [string, (...args: unknown[]) => unknown][];

/** Wraps a store so that its methods throw `store_unavailable` when SQLite fails. */
export function translatingErrors<Store extends object>(store: Store): Store {
  const methods = Object.entries(store) as Methods;
  return Object.fromEntries(
    methods.map(([name, run]) => [name, (...args: unknown[]) => translateErrors(() => run(...args))]),
  ) as Store;
}

/** Makes a port from its synchronous form: each method resolves with the result or rejects with the error. */
export function asAsync<Port extends object>(sync: SyncPort<Port>): Port {
  const methods = Object.entries(translatingErrors(sync)) as Methods;
  return Object.fromEntries(methods.map(([name, run]) => [name, async (...args: unknown[]) => run(...args)])) as Port;
}
