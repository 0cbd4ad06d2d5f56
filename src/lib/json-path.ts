/** The member of a JSON value at a path: names and numbers of items, with dots between them. Undefined if it is missing. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    if (Array.isArray(found) && name === "length") return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}
