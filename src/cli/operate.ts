import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readSettings } from "../config/settings.ts";
import { AppError, PROBLEMS } from "../errors.ts";
import { createLog } from "../log.ts";
import {
  type Asking,
  type InputOf,
  type Operation,
  type OperationConfiguration,
  type OperationContext,
  type OutputOf,
  readInput,
} from "../operations/operation.ts";
import { makeChange } from "./make-change.ts";
import { OperationProblem, type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { type CommandStores, PAUSE_MS, withStores } from "./stores.ts";

/** Does an operation. Throws {@link OperationProblem} for what the API answers with a problem. */
export type Perform = <One extends Operation>(one: One, input: InputOf<One>) => Promise<OutputOf<One>>;

/** Where operations are done: on the stores of this machine, or on a server elsewhere. */
type Place = { stores: CommandStores; server: null } | { stores: null; server: RemoteServer };

/** Does operations in a place. */
export type Performer = Place & {
  perform: Perform;
  /**
   * Does an operation part by part, and returns what has come of all parts. Here they are one change in the audit, of
   * what was asked; null: nothing is changed. On a server each part is one.
   */
  asOneChange<One extends Operation & { kind: "change" }>(
    one: One,
    asked: object | null,
    make: (perform: Perform) => Promise<OutputOf<One>>,
  ): Promise<OutputOf<One>>;
  /** The clock of the stores. */
  now(): number;
};

/**
 * Runs a command on the server that the options name, or else on the stores of this machine. `own` is what its
 * operations use there instead of {@link commandConfiguration}.
 */
export async function withPerformer(
  options: RemoteOptions,
  command: (performer: Performer) => Promise<void>,
  own: Partial<OperationContext> = {},
): Promise<void> {
  const server = remoteServer(options);
  if (server !== null) return command(performerThere(server));
  await withStores((stores) => command(performerHere(stores, own)));
}

/** Does one operation on the server that the options name, or else on the stores of this machine. */
export async function operate<One extends Operation>(
  one: One,
  input: InputOf<One>,
  options: RemoteOptions,
  own: Partial<OperationContext> = {},
): Promise<OutputOf<One>> {
  const results: OutputOf<One>[] = [];
  const run = async ({ perform }: Performer) => void results.push(await perform(one, input));
  await withPerformer(options, run, own);
  return results[0] as OutputOf<One>;
}

/** Does one operation on a server elsewhere, also what only a running server can do. */
export function operateThere<One extends Operation<never>>(
  server: RemoteServer,
  one: One,
  input: InputOf<One>,
): Promise<OutputOf<One>> {
  if (one.kind === "change") return server.post(one.path, input);
  // A parameter of a path may be given in the query.
  return server.get(one.path.replaceAll(/:[A-Za-z]+/g, "-"), input as Record<string, string>);
}

// The API takes up to 500.
const PAGE = 500;

/** Reads a list page by page, up to a number of items. */
export async function readItems<Item>(
  read: (page: { limit: string; cursor?: string }) => Promise<{ items: Item[]; cursor: string | null }>,
  most = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const found: Item[] = [];
  let next: string | null = null;
  do {
    const limit = String(Math.min(PAGE, most - found.length));
    const { items, cursor } = await read({ limit, ...(next !== null && { cursor: next }) });
    found.push(...items);
    next = cursor;
  } while (next !== null && found.length < most);
  return found;
}

function performerThere(server: RemoteServer): Performer {
  const perform: Perform = (one, input) => operateThere(server, one, input);
  return { perform, asOneChange: (_one, _asked, make) => make(perform), stores: null, server, now: Date.now };
}

/** Does operations on open stores. */
function performerHere(stores: CommandStores, own: Partial<OperationContext>): Performer {
  const people = async () => (await import("./known-people.ts")).readPeople(stores);
  const context: OperationContext = { ...commandConfiguration, people, ...own, stores };
  const perform: Perform = async (one, input) => one.run(context, readInput(one, input));
  const asOneChange: Performer["asOneChange"] = (one, asked, make) => {
    if (one.audited === null || asked === null) return make(perform).catch(throwProblem);
    const { action, outcome } = one.audited;
    return makeChange(stores, { action, asked, make: () => make(perform), outcome }).catch(throwProblem);
  };
  return {
    perform: async (one, input) =>
      one.kind === "change"
        ? asOneChange(one, askedOf(one, input, context), () => perform(one, input))
        : perform(one, input).catch(throwProblem),
    asOneChange,
    stores,
    server: null,
    now: stores.now,
  };
}

/** What the audit has of an operation. Null if it changes nothing. Throws {@link OperationProblem}. */
export function askedOf<One extends Operation & { kind: "change" }>(
  one: One,
  input: InputOf<One>,
  asking: Asking = commandConfiguration,
): object | null {
  try {
    return one.audited?.asked(readInput(one, input), asking) ?? null;
  } catch (error) {
    return throwProblem(error);
  }
}

// Most commands do not need what reads the configuration file, which takes longer to load than their own work.
const configured = () => import("./configured.ts");

/** What a command finds in the environment and the configuration file. It is read when it is asked for. */
export const commandConfiguration: OperationConfiguration & Asking = {
  asker: () => ({ id: readSettings(readEnvironment(), ["DEMO_USER_ID"]).DEMO_USER_ID, email: null }),
  log: createLog("silent"),
  routes: async () => (await configured()).readRoutesOf(undefined),
  shadows: async () => (await configured()).readShadows(),
  sources: async () => (await configured()).readSourcesOf(undefined),
  clients: async () => (await configured()).readClients(),
  retention: async () => (await configured()).readRetention(),
  pace: () => async () => {
    await delay(PAUSE_MS);
    return true;
  },
  isAvailable: () => true,
  testNotifiers: async () => (await configured()).testConfiguredNotifiers(),
};

/** Throws what the API answers with a problem as one. The cause of others is shown, because it is on this machine. */
function throwProblem(error: unknown): never {
  if (!(error instanceof AppError) || error.status >= 500) throw error;
  const [first = null] = error.errors ?? [];
  throw new OperationProblem(error, first ? `${first.path} ${first.message}` : PROBLEMS[error.code].detail, first);
}
