/**
 * The member of a JSON value at a path: names and numbers of items, with dots between them. Undefined if it is missing.
 */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) found = memberNamed(found, name);
  return found;
}

function memberNamed(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  if (Array.isArray(value) && name === "length") return undefined;
  return (value as Record<string, unknown>)[name];
}

/** As {@link valueAt}, also where a name has dots itself. The shorter of two names counts, if it leads to a value. */
export function dottedValueAt(value: unknown, path: string): unknown {
  const found = valueAt(value, path);
  return found === undefined ? follow(value, path.split(".")) : found;
}

function follow(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0) return value;
  for (let count = 1; count <= names.length; count++) {
    const next = memberNamed(value, names.slice(0, count).join("."));
    const found = next === undefined ? undefined : follow(next, names.slice(count));
    if (found !== undefined) return found;
  }
  return undefined;
}
