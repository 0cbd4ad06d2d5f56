import { readEnvironment } from "../config/env-file.ts";
import { readSources } from "../config/sources.ts";
import { OperatorError, SettingsError } from "../errors.ts";
import type { Stores } from "../stores.ts";
import { DEFAULT_SOURCE_NAME } from "../webhook/default-source.ts";
import type { Source } from "../webhook/source.ts";
import { remedyForName } from "./option-values.ts";
import { noSuchRoute, readRoutes } from "./routes.ts";

/** Returns the source of this name. Throws {@link OperatorError} if there is none. */
export function findSource(sources: readonly Source[], name: string): Source {
  const source = sources.find((candidate) => candidate.name === name);
  if (source) return source;
  if (name === DEFAULT_SOURCE_NAME) {
    throw new OperatorError({
      found: `WEBHOOK_SECRET is not set, so there is no source ${name}`,
      remedy: "set it, or name a source of authserve.yaml",
    });
  }
  throw noSuchSource(
    name,
    sources.map((candidate) => candidate.name),
  );
}

function noSuchSource(name: string, known: readonly string[]): OperatorError {
  const remedy = remedyForName(name, known, "authserve sources list");
  return new OperatorError({ found: `There is no source ${JSON.stringify(name)}`, remedy });
}

/**
 * Throws {@link OperatorError} if a filter names a source or a route that is neither configured nor stored. Without a
 * usable configuration, every name may be right.
 */
export async function requireFiltered(
  { sources, events }: Pick<Stores, "sources" | "events">,
  { source, route }: { source?: string | undefined; route?: string | undefined },
): Promise<void> {
  if (source !== undefined) {
    const stored = (await sources.list()).map((record) => record.source);
    const configured = namesOf(() => readSources(readEnvironment()));
    const isKnown = !configured || [...stored, ...configured].includes(source);
    if (!isKnown && (await events.list({ source, limit: 1 })).items.length === 0)
      throw noSuchSource(source, [...configured, ...stored]);
  }
  if (route !== undefined) {
    const stored = (await events.routes()).map((record) => record.route);
    const configured = namesOf(() => readRoutes(readEnvironment()));
    if (configured && !stored.includes(route) && !configured.includes(route))
      throw noSuchRoute(route, [...configured, ...stored]);
  }
}

/** The names of what is configured. Null if the configuration is not usable. */
function namesOf(read: () => readonly { name: string }[]): string[] | null {
  try {
    return read().map(({ name }) => name);
  } catch (error) {
    if (error instanceof SettingsError) return null;
    throw error;
  }
}
