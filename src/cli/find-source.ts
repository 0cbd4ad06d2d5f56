import { remedyAt } from "../config/service.ts";
import { OperatorError, SettingsError } from "../errors.ts";
import * as routes from "../operations/routes.ts";
import * as sources from "../operations/sources.ts";
import type { Stores } from "../stores.ts";
import { DEFAULT_SOURCE_NAME } from "../webhook/default-source.ts";
import type { Source } from "../webhook/source.ts";
import { commandConfiguration, operateThere, type Performer } from "./operate.ts";
import { remedyForName } from "./option-values.ts";
import type { RemoteServer } from "./remote.ts";

/** Returns the source of this name. Throws {@link OperatorError} if there is none. */
export function findSource(sources: readonly Source[], name: string): Source {
  const source = sources.find((candidate) => candidate.name === name);
  if (source) return source;
  if (name === DEFAULT_SOURCE_NAME) {
    throw new OperatorError({
      found: `WEBHOOK_SECRET is not set, so there is no source ${name}`,
      remedy: remedyAt({
        folder: "set it, or name a source of authserve.yaml",
        service: "name a source of authserve.yaml",
      }),
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

export function noSuchRoute(name: string, known: readonly string[], kind: "route" | "shadow" = "route"): OperatorError {
  const remedy = remedyForName(name, known, kind === "route" ? "authserve routes list" : "authserve routes shadow");
  return new OperatorError({ found: `There is no ${kind} ${JSON.stringify(name)}`, remedy });
}

interface Filtered {
  source?: string | undefined;
  route?: string | undefined;
}

/** The names that a filter may have; null if every name may be right. `events` reads one of a source. */
interface KnownNames {
  sources(): Promise<string[] | null>;
  routes(): Promise<string[] | null>;
  events(source: string): Promise<{ items: readonly unknown[] }>;
}

/** Throws as {@link requireFiltered}, here or on another machine. */
export const requireKnown = ({ stores, server }: Performer, filtered: Filtered): Promise<void> =>
  server === null ? requireFiltered(stores, filtered) : requireFilteredThere(server, filtered);

/**
 * Throws {@link OperatorError} if a filter names a source or a route that is neither configured nor stored. Without a
 * usable configuration, every name may be right.
 */
export function requireFiltered(
  { sources, events }: Pick<Stores, "sources" | "events">,
  filtered: Filtered,
): Promise<void> {
  return requireNamed(
    {
      async sources() {
        const configured = await namesOf(commandConfiguration.sources);
        return configured && [...configured, ...(await sources.list()).map((record) => record.source)];
      },
      async routes() {
        const configured = await namesOf(commandConfiguration.routes);
        return configured && [...configured, ...(await events.routes(Date.now())).map((record) => record.route)];
      },
      events: (source) => events.list({ source, limit: 1 }),
    },
    filtered,
  );
}

/** Does what {@link requireFiltered} does, for a server on another machine. */
export function requireFilteredThere(server: RemoteServer, filtered: Filtered): Promise<void> {
  return requireNamed(
    {
      sources: async () => (await operateThere(server, sources.listed, {})).items.map(({ name }) => name),
      routes: async () => (await operateThere(server, routes.listed, {})).items.map(({ name }) => name),
      events: (source) => server.get("events", { source, limit: 1 }),
    },
    filtered,
  );
}

interface Named {
  name: string;
}

async function requireNamed({ sources, routes, events }: KnownNames, { source, route }: Filtered): Promise<void> {
  if (source !== undefined) {
    const names = await sources();
    if (names && !names.includes(source) && (await events(source)).items.length === 0)
      throw noSuchSource(source, names);
  }
  if (route !== undefined) {
    const names = await routes();
    if (names && !names.includes(route)) throw noSuchRoute(route, names);
  }
}

/** The names of what is configured. Null if the configuration is not usable. */
const namesOf = async (read: () => Promise<readonly Named[]>) =>
  (await ifUsable(read))?.map(({ name }) => name) ?? null;

/** What is configured. Null if the configuration is not usable. */
export async function ifUsable<Part>(read: () => Promise<Part>): Promise<Part | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SettingsError) return null;
    throw error;
  }
}
