import { runInFolder } from "../../test/selftest/crash/folder.ts";
import { type CrashTestResult, createCrashTest } from "../../test/selftest/crash/rounds.ts";
import type { Faults } from "../../test/selftest/crash/verdict.ts";
import { readEnvironment } from "../config/env-file.ts";
import { DATABASE_SETTING_NAMES, type DatabaseSettings, readSettings } from "../config/settings.ts";
import { postgresOptions } from "../stores.ts";
import { wholeNumber } from "./option-values.ts";
import { printJson, say } from "./output.ts";
import { createProgressBar } from "./progress.ts";
import { printTable } from "./table.ts";

interface SelftestOptions {
  rounds: string;
  json?: boolean;
}

const MAX_ROUNDS = 999_999;
const MAX_EXAMPLES = 10;

/** Kills a server of its own under load, many times, and checks that it lost nothing. The exit code is 1 on failure. */
export async function runSelftestCrash({ rounds: text, json = false }: SelftestOptions): Promise<void> {
  const rounds = wholeNumber("--rounds", text, MAX_ROUNDS);
  const environment = readEnvironment();
  const settings = readSettings(environment, ["DATA_DIR", ...DATABASE_SETTING_NAMES]);
  const startedAt = performance.now();
  const progress = createProgressBar((perSecond) => `${perSecond.toFixed(1)} rounds/s`);
  const onRound = (done: number) => progress.update(done, rounds);
  const scratch = await createDatabase(settings);
  const createTest = (folder: string) => {
    const test = createCrashTest({ folder, environment, databaseUrl: scratch?.url, rounds, onRound });
    // A signal ends this process, so the database must be gone before.
    return { ...test, abort: () => test.abort().finally(scratch?.drop) };
  };
  const { result, folder } = await runInFolder(settings.DATA_DIR, createTest, isPassed).finally(progress.end);
  if (folder === null) await scratch?.drop();
  else if (scratch) say(`The database of the test is kept: ${scratch.name}`);
  const run = { rounds, seconds: (performance.now() - startedAt) / 1000, folder };
  if (json) printJson(summaryOf(result, run));
  else report(result, run);
  if (!isPassed(result)) process.exitCode = 1;
}

/** Creates a database for the test beside that of `DATABASE_URL`. Null without one. */
async function createDatabase(settings: DatabaseSettings) {
  const { DATABASE_URL: address } = settings;
  if (address === undefined) return null;
  const { createScratchDatabase, withDatabase } = await import("../postgres/maintenance/scratch.ts");
  const { name, drop } = await createScratchDatabase(postgresOptions(settings, address));
  return { name, drop, url: withDatabase(address.url, name) };
}

const FAULTS = [
  "lost",
  "unexpected",
  "notSettledOnce",
  "outOfOrder",
  "logouts",
  "damage",
] as const satisfies (keyof Faults)[];

function isPassed({ faults }: CrashTestResult): boolean {
  return FAULTS.every((name) => faults[name].length === 0);
}

interface Run {
  rounds: number;
  seconds: number;
  /** Null if it was removed. */
  folder: string | null;
}

function report(result: CrashTestResult, run: Run): void {
  const { sent, acknowledged, stored, sessions, faults } = result;
  const checks: [check: string, count: number, broken: readonly string[]][] = [
    ["every acknowledged event is stored", acknowledged, faults.lost],
    ["every stored event was sent", stored, faults.unexpected],
    ["every stored event is processed once", stored, faults.notSettledOnce],
    ["the order of each sender is kept", stored, faults.outOfOrder],
    ["an app is told of the end of each session", sessions, faults.logouts],
    ["the database is undamaged", stored, faults.damage],
  ];
  printTable(
    ["CHECK", "COUNT", "BROKEN"],
    checks.map(([check, count, broken]) => [check, `${count}`, `${broken.length}`]),
  );
  for (const [, , broken] of checks) for (const line of broken.slice(0, MAX_EXAMPLES)) say(`  ${line}`);
  const how = `kills: ${run.rounds}, events sent: ${sent}, ${run.seconds.toFixed(1)} s`;
  if (run.folder === null) say(`Nothing acknowledged was lost (${how}).`);
  else say(`FAILED: see column BROKEN (${how}). The folder of the test is kept: ${run.folder}`);
}

/** The result as JSON: the number of each fault, and examples of those there are. */
function summaryOf({ faults, ...counts }: CrashTestResult, { rounds, seconds, folder }: Run) {
  const each = <T>(show: (found: string[]) => T) =>
    Object.fromEntries(FAULTS.map((name) => [name, show(faults[name])]));
  return {
    passed: isPassed({ ...counts, faults }),
    rounds,
    ...counts,
    ...each((found) => found.length),
    seconds: Number(seconds.toFixed(1)),
    folder,
    examples: each((found) => found.slice(0, MAX_EXAMPLES)),
  };
}
