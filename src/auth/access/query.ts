/** Parameters of a query that an entry compares: their names and decoded values. */
export type QueryRule = readonly (readonly [name: string, value: string])[];

/**
 * Whether a query has these parameters, and no app can read others. Each is there once, under no name that an app may
 * take for it: PHP, for one, reads `a[]`, `%61` and, for `a_b`, `a.b`. Without a `?`, `query` is null.
 */
export function matchesQuery(rule: QueryRule, query: string | null): boolean {
  // Some apps separate parameters by `;`.
  if (query === null || query.includes(";")) return false;
  const sent = query.split("&").map((parameter) => {
    const [name = ""] = parameter.split("=", 1);
    return { name, read: looseName(name), value: decodedValue(parameter.slice(name.length + 1)) };
  });
  return rule.every(([name, value]) => {
    const found = sent.filter(({ read }) => read === looseName(name));
    return found.length === 1 && found[0]?.name === name && found[0].value === value;
  });
}

/** The name as the most lenient app reads it. */
function looseName(name: string): string {
  const text = decodedValue(decodedValue(name) ?? name) ?? name;
  const [beginning = ""] = text.replace(/^ +/, "").split(/[[\0]/, 1);
  return beginning.replace(/[^A-Za-z0-9]/g, "_").toLowerCase();
}

/** The decoded text; null if it is not the encoding of UTF-8. */
function decodedValue(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
