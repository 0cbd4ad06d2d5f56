import { randomUUID } from "node:crypto";
import { type RaceResult, raceSessions } from "../auth/session-races.ts";
import { namesRedis } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";

interface SelftestOptions {
  rounds: string;
  json?: boolean;
}

/** Races logins, logouts and reads on the configured session store, under a key of its own; exit code 1 when it fails. */
export async function runSelftestSessions({ rounds, json }: SelftestOptions): Promise<void> {
  if (!/^[1-9][0-9]{0,5}$/.test(rounds)) throw new OperatorError("--rounds is a whole number from 1 to 999999");
  const count = Number(rounds);
  const perRace = { logins: Math.ceil(count / 20), logouts: count, reads: Math.ceil(count / 20) };
  await withStores(({ sessions: one, settings }) =>
    withStores(
      async ({ sessions: other }) => {
        const results = await raceSessions([one, other], `selftest-${randomUUID()}`, perRace);
        report(results, namesRedis(settings) ? "redis" : "embedded", json);
      },
      [],
      { isOpen: true },
    ),
  );
}

function report(results: readonly RaceResult[], store: string, json = false): void {
  const passed = results.every(({ broken }) => broken === 0);
  if (json) printJson({ store, passed, races: results });
  else {
    printTable(
      ["RACE", "ROUNDS", "BROKEN", "TOOK"],
      results.map(({ race, ...result }) => [race, `${result.rounds}`, `${result.broken}`, `${result.durationMs} ms`]),
    );
    say(passed ? `The ${store} store keeps single sessions.` : `The ${store} store does NOT keep single sessions.`);
  }
  if (!passed) process.exitCode = 1;
}
