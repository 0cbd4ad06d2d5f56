import { isObject } from "../../lib/json.ts";
import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";

/** What entries of the file need to know of others, which may have faults. Names are as they are written. */
export interface Outline {
  /** The names of all sources; null if they cannot be read. */
  sources: ReadonlySet<string> | null;
  /** The index of the first route of each name. */
  routes: ReadonlyMap<unknown, number>;
  /** The routes that may have a shadow, and whether they send the result of an expression. */
  shadowed: ReadonlyMap<string, boolean>;
}

/** The outline of a file. `hasDefault`: whether the environment makes a source. */
export function outlineOf(file: unknown, hasDefault: boolean): Outline {
  const { sources, routes } = isObject(file) ? file : {};
  const entries = (Array.isArray(routes) ? routes : []).map((entry) => (isObject(entry) ? entry : {}));
  const shadowed = entries.filter((entry) => !entry.shadow && ("http" in entry || "to" in entry));
  const ofEnvironment = hasDefault ? [DEFAULT_SOURCE_NAME] : [];
  return {
    sources: isObject(sources ?? {}) ? new Set([...Object.keys(sources ?? {}), ...ofEnvironment]) : null,
    routes: new Map(entries.map(({ name }, index) => [name, index] as const).reverse()),
    shadowed: new Map(
      shadowed.flatMap(({ name, transform }) =>
        typeof name === "string" ? [[name, transform !== undefined] as const] : [],
      ),
    ),
  };
}
