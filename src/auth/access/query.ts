import { formDecoded } from "../../lib/form-encoded.ts";

/** Parameters of a query that an entry compares: their names and decoded values. */
export type QueryRule = readonly (readonly [name: string, value: string])[];

// Apps read no parameters beyond a number: PHP and Express 1,000.
const MAX_PARAMETERS = 100;
const MAX_LENGTH = 4096;

/** Names that each app reads as they are written: without escapes, and without brackets, which make lists and maps. */
const PLAIN_NAME = /^[A-Za-z0-9_.-]*$/;

/**
 * Whether a query has these parameters, and no app can read others: each is there once, and under no other spelling.
 * Without a `?`, `query` is null.
 */
export function matchesQuery(rule: QueryRule, query: string | null): boolean {
  // Some apps separate parameters by `;`, and a query ends at `#`.
  if (query === null || query.length > MAX_LENGTH || /[;#]|[^\x21-\x7e]/.test(query)) return false;
  const sent = query.split("&").map((parameter): [name: string, value: string] => {
    const [name = ""] = parameter.split("=", 1);
    return [name, parameter.slice(name.length + 1)];
  });
  if (sent.length > MAX_PARAMETERS || !sent.every(([name]) => PLAIN_NAME.test(name))) return false;
  return rule.every(([name, value]) => {
    const found = sent.filter(([one]) => looseName(one) === looseName(name));
    return found.length === 1 && found[0]?.[0] === name && formDecoded(found[0][1]) === value;
  });
}

/** The name as the most lenient app reads it. PHP reads `a.b` as `a_b`. */
const looseName = (name: string) => name.replace(/[.-]/g, "_").toLowerCase();
