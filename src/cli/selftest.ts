import { randomUUID } from "node:crypto";
import { type RaceResult, runSessionRaces } from "../../test/selftest/session-races.ts";
import { type DatabaseSettings, type RedisSettings, usesRedis } from "../config/settings.ts";
import { wholeNumber } from "./option-values.ts";
import { printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";

interface SelftestOptions {
  rounds: string;
  json?: boolean;
}

const MAX_ROUNDS = 999_999;

/** Races logins, logouts and reads on the configured session store, with a test user. The exit code is 1 on failure. */
export async function runSelftestSessions({ rounds, json }: SelftestOptions): Promise<void> {
  const count = wholeNumber("--rounds", rounds, MAX_ROUNDS);
  const perRace = { logins: Math.ceil(count / 20), logouts: count, renewals: count, reads: Math.ceil(count / 20) };
  await withStores(({ sessions: one, settings }) =>
    withStores(
      async ({ sessions: other }) => {
        const results = await runSessionRaces([one, other], `selftest-${randomUUID()}`, perRace);
        report(results, storeOf(settings), json);
      },
      [],
      { isOpen: true },
    ),
  );
}

function storeOf(settings: RedisSettings & DatabaseSettings): string {
  if (usesRedis(settings)) return "redis";
  return settings.DATABASE_URL === undefined ? "embedded" : "postgres";
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
