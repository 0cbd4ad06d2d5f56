import { randomUUID } from "node:crypto";
import { type RaceResult, runSessionRaces } from "../auth/session-races.ts";
import { usesRedis } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";

interface SelftestOptions {
  rounds: string;
  json?: boolean;
}

/** Races logins, logouts and reads on the configured session store, with a test user. The exit code is 1 on failure. */
export async function runSelftestSessions({ rounds, json }: SelftestOptions): Promise<void> {
  if (!/^[1-9][0-9]{0,5}$/.test(rounds)) {
    throw new OperatorError({ found: "--rounds is not usable", remedy: "give a whole number from 1 to 999999" });
  }
  const count = Number(rounds);
  const perRace = { logins: Math.ceil(count / 20), logouts: count, renewals: count, reads: Math.ceil(count / 20) };
  await withStores(({ sessions: one, settings }) =>
    withStores(
      async ({ sessions: other }) => {
        const results = await runSessionRaces([one, other], `selftest-${randomUUID()}`, perRace);
        report(results, usesRedis(settings) ? "redis" : "embedded", json);
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
    say(passed ? `The ${store} store passed all races.` : `The ${store} store FAILED: see column BROKEN.`);
  }
  if (!passed) process.exitCode = 1;
}
