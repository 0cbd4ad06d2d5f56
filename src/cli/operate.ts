import { hostname } from "node:os";
import { createNotify } from "../alerts/notifiers.ts";
import { testNotifiers } from "../alerts/test-notifiers.ts";
import { readEnvironment } from "../config/env-file.ts";
import { handlerEnvironment, readConfigFile } from "../config/file/config-file.ts";
import { ROUTE_SETTING_NAMES, routesOf, shadowsOf } from "../config/routes.ts";
import { readSettings } from "../config/settings.ts";
import { readSources } from "../config/sources.ts";
import { AppError, PROBLEMS } from "../errors.ts";
import { pageUrlOf } from "../http/listen.ts";
import {
  type InputOf,
  type Operation,
  type OperationContext,
  type OutputOf,
  readInput,
} from "../operations/operation.ts";
import type { Stores } from "../stores.ts";
import { makeChange } from "./make-change.ts";
import { OperationProblem, type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { withStores } from "./stores.ts";

/** Does operations: on the stores of this machine, or on a server elsewhere. */
interface Performer {
  /** Throws {@link OperationProblem} for what the API answers with a problem. Members without a value are left out. */
  perform<One extends Operation>(one: One, input: InputOf<One>): Promise<OutputOf<One>>;
  /** Null on this machine. */
  server: RemoteServer | null;
}

/** Runs a command on the server that the options name, or else on the stores of this machine. */
async function withPerformer(options: RemoteOptions, command: (operator: Performer) => Promise<void>): Promise<void> {
  const server = remoteServer(options);
  if (server !== null) return command(performerThere(server));
  await withStores((stores) => command(performerHere(stores)));
}

/** Does one operation on the server that the options name, or else on the stores of this machine. */
export async function operate<One extends Operation>(
  one: One,
  input: InputOf<One>,
  options: RemoteOptions,
): Promise<OutputOf<One>> {
  const results: OutputOf<One>[] = [];
  await withPerformer(options, async ({ perform }) => {
    results.push(await perform(one, input));
  });
  return results[0] as OutputOf<One>;
}

function performerThere(server: RemoteServer): Performer {
  return {
    server,
    perform(one, input) {
      if (one.kind === "change") return server.post(one.path, input);
      return server.raw(one.path, input as Record<string, string>);
    },
  };
}

/** Does operations on open stores. */
function performerHere(stores: Stores): Performer {
  const context: OperationContext = { ...commandConfiguration, stores };
  return {
    server: null,
    async perform(one, given) {
      try {
        const input = readInput(one, given);
        const audited = one.kind === "change" ? one.audited : null;
        const asked = audited?.asked(input) ?? null;
        const make = () => one.run(context, input);
        if (audited === null || asked === null) return await make();
        return await makeChange(stores, { action: audited.action, asked, make, outcome: audited.outcome });
      } catch (error) {
        throw error instanceof AppError ? problemOf(error) : error;
      }
    },
  };
}

/** What a command finds in the environment and the configuration file. It is read when it is asked for. */
export const commandConfiguration: Omit<OperationContext, "stores"> = {
  routes: () => routesOf(readSettings(readEnvironment(), ROUTE_SETTING_NAMES), readConfigFile(readEnvironment())),
  shadows: () => shadowsOf(readSettings(readEnvironment(), ROUTE_SETTING_NAMES), readConfigFile(readEnvironment())),
  sources: () => readSources(readEnvironment()),
  isAvailable: () => true,
  async testNotifiers() {
    const environment = readEnvironment();
    const file = readConfigFile(environment);
    const { PUBLIC_URL: url = "", ADMIN } = readSettings(environment, ["PUBLIC_URL", "ADMIN"]);
    if (file === null) return [];
    const notify = createNotify({ instance: hostname(), url, page: pageUrlOf({ ADMIN }, url) }, () =>
      handlerEnvironment(environment, file),
    );
    return testNotifiers(notify, file.alerts.notifiers, Date.now());
  },
};

function problemOf(error: AppError): OperationProblem {
  const [first] = error.errors ?? [];
  return new OperationProblem(error, first ? `${first.path} ${first.message}` : PROBLEMS[error.code].detail);
}
