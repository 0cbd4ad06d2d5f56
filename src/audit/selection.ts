import { TOKEN_NAME } from "../lib/name.ts";

const MAX_NAMED = 20;

/** Events as they were selected for a change. */
interface Selection {
  ids?: readonly string[] | undefined;
  source?: string | undefined;
  filter?: Readonly<Record<string, string | number | undefined>> | undefined;
}

/**
 * What the audit has of a selection: the first 20 ids, or the filter. A searched text or a part of an error may be data
 * of a person: of these it only says that they were given.
 */
export function auditedSelection({ ids, source, filter }: Selection): object {
  if (ids !== undefined) return { ids: ids.slice(0, MAX_NAMED), ...(source !== undefined && { source }) };
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined);
  const members = given.map(([name, value]) => [name, name === "search" || name === "error" ? true : value]);
  return { filter: Object.fromEntries(members) };
}

/** What the audit has of names of tokens as they were given: another text may be a token itself. */
export const auditedNames = (names: readonly string[]) =>
  names.slice(0, MAX_NAMED).map((name) => (TOKEN_NAME.test(name) ? name : null));
