import { readEnvironment } from "../config/env-file.ts";
import { readSources } from "../config/sources.ts";
import { OperatorError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { catchUp } from "../operations/outages.ts";
import { catchUpRunOf } from "../serve/catch-up.ts";
import { catchUpOf } from "../webhook/catch-up/adapters.ts";
import { type CatchUpResult, runCatchUp } from "../webhook/catch-up/run.ts";
import { findSource } from "./find-source.ts";
import { makeChange } from "./make-change.ts";
import { operateThere } from "./operate.ts";
import { parseTime } from "./option-values.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { probeServer } from "./running-server.ts";
import { withStores } from "./stores.ts";

interface CatchUpOptions extends RemoteOptions {
  since?: string;
  all?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

// The server is on this machine.
const PROBE_MS = 10_000;

/**
 * Gets what a source has missed from its provider. The exit code is 1 if the run was broken off. A server elsewhere
 * only begins it.
 */
export async function runSourcesCatchUp(name: string, options: CatchUpOptions): Promise<void> {
  const server = remoteServer(options);
  if (server !== null) return beginThere(server, name, options);
  const { since, all = false, dryRun = false, json } = options;
  const source = findSource(readSources(readEnvironment()), name);
  const adapter = catchUpOf(source);
  if (source.catchUp === undefined) {
    const remedy =
      adapter === undefined
        ? "ask for missed deliveries at the provider: its API cannot be asked"
        : `set catchUp of ${name} in authserve.yaml, with token: ${adapter.token}`;
    throw new OperatorError({ found: `The source ${name} has no catchUp`, remedy });
  }
  await withStores(async (stores) => {
    const { settings, now } = stores;
    // What is asked for would not arrive, and would count as a try.
    if (!dryRun && !adapter?.onlyLists && settings.DATABASE_URL === undefined)
      await probeServer(settings.DATA_DIR, PROBE_MS);
    const stopped = new AbortController();
    const run = catchUpRunOf(source, stores, stopped.signal);
    if (run === null) return;
    const from = since === undefined ? {} : { since: parseTime("--since", since, now()) };
    const result = await makeChange(stores, {
      action: "source.catch_up",
      asked: { source: name },
      isDryRun: dryRun,
      make: () => runCatchUp({ ...run, ...from, isDryRun: dryRun, isAll: all }),
      outcome: ({ redelivered, captured }) => ({ redelivered, captured }),
    });
    if (json) printJson(result);
    else printResult(result, dryRun);
    if (result.error !== null) process.exitCode = 1;
  });
}

async function beginThere(
  server: RemoteServer,
  source: string,
  { since, all, dryRun, json }: CatchUpOptions,
): Promise<void> {
  if (dryRun)
    throw new OperatorError({ found: "--dry-run cannot be used with --server", remedy: "run this on its machine" });
  const from = since === undefined ? {} : { since: isoTime(parseTime("--since", since, Date.now())) };
  const { started } = await operateThere(server, catchUp, { source, ...from, ...(all && { all }) });
  if (json) printJson({ started });
  else if (started) say(`The server gets what ${source} has missed. Its log tells what has come of it.`);
  else say(`The server gets what ${source} has missed already.`);
}

function printResult(
  { listed, seen, redelivered, captured, failed, left, refusal, error }: CatchUpResult,
  isDry: boolean,
): void {
  const would = isDry ? "would be " : "";
  printData(`${counted(listed, "event")} at the provider, ${seen} of them stored or delivered`);
  printData(`${redelivered} ${would}asked for, ${captured} ${would}stored from the API`);
  if (failed > 0) printData(`${failed} do not come: ${refusal ?? "see the provider's log for why"}`);
  if (left > 0) printData(`${left} left to a later run, or to the provider's own repeats`);
  if (error !== null) say(`The run was broken off: ${error}. The next one goes on.`);
}
