import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { boundOf, COMPARED } from "./goals.ts";
import { playCorpus, playRun, prepareRun, type Run, type Spread, spreadOf, WARM_UP_SECONDS } from "./load.ts";
import { hundredths, printHead, printRow, whole } from "./table.ts";
import { metricOf, NODE, rssMb, startCheckout, type Target } from "./targets.ts";

const ROOT = join(import.meta.dirname, "..");
const CONNECTIONS = 64;
const ROUTE = "bench";

/** What is measured of a checkout in a round. */
interface Figures {
  "deliveries/s": number;
  "jobs/s": number;
  "start, ms": number;
  "memory when idle, MB": number;
}

/** The commit to compare with by default: the last release, or one before the first. */
export const BASELINE = readFileSync(join(import.meta.dirname, "baseline"), "utf8").trim();

/**
 * Measures the source of this checkout beside that of another commit, in turn, and prints both with the ratio of each
 * round. A wide spread means that the machine was not quiet, so that a ratio out of bounds fails nothing.
 */
export async function measureComparison(
  scratch: string,
  commit: string,
  rounds: number,
  seconds: number,
): Promise<void> {
  const before = checkOut(scratch, commit);
  const found: Record<"before" | "now", Figures[]> = { before: [], now: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      const run = await prepareRun(scratch, seconds, `evt_${Date.now().toString(36)}_`);
      const turns = [["before", before] as const, ["now", ROOT] as const];
      for (const [name, checkout] of round % 2 === 0 ? turns : turns.reverse()) {
        const figures = await measureCheckout(scratch, checkout, run);
        console.error(`round ${round + 1}, ${name}: ${JSON.stringify(figures)}`);
        found[name].push(figures);
      }
    }
  } finally {
    git("worktree", "remove", "--force", before);
  }
  printHead(["figure", commit.slice(0, 12), "now", "ratio", "bound"]);
  for (const figure of Object.keys(found.now[0] ?? {}) as (keyof Figures)[]) {
    const spread = (one: Figures[]): Spread => spreadOf(one.map((figures) => figures[figure]));
    const ratios = found.now.map((now, round) => now[figure] / (found.before[round]?.[figure] ?? Number.NaN));
    const ratio = spreadOf(ratios);
    const bound = boundOf(ratio.median, COMPARED[figure]);
    printRow([figure, whole(spread(found.before)), whole(spread(found.now)), hundredths(ratio), bound]);
  }
}

/** Checks a commit out into a folder, with the packages of its lock file. */
function checkOut(scratch: string, commit: string): string {
  const dir = join(scratch, "before");
  git("worktree", "add", "--detach", dir, commit);
  const lock = (of: string) => readFileSync(join(of, "package-lock.json"), "utf8");
  if (lock(dir) === lock(ROOT)) symlinkSync(join(ROOT, "node_modules"), join(dir, "node_modules"));
  else run("npm", ["ci", "--silent", "--no-audit", "--no-fund"], dir);
  return dir;
}

const git = (...args: string[]) => run("git", args, ROOT);

function run(program: string, args: string[], cwd: string): void {
  const { status, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`);
}

async function measureCheckout(scratch: string, checkout: string, deliveries: Run): Promise<Figures> {
  const startedAt = performance.now();
  const server = await startCheckout(scratch, checkout, []);
  const readyMs = performance.now() - startedAt;
  await delay(2000);
  const idleMb = rssMb(server.pid);
  const { perSecond } = await playRun(server, CONNECTIONS, deliveries).finally(() => server.stop());
  return {
    "deliveries/s": perSecond,
    "jobs/s": await measureDrain(scratch, checkout, deliveries),
    "start, ms": readyMs,
    "memory when idle, MB": idleMb,
  };
}

/**
 * Lets the jobs of a paused route gather, and resumes it. Returns how many of them are processed per second from the
 * end of that command on.
 */
async function measureDrain(scratch: string, checkout: string, { warmUp }: Run): Promise<number> {
  const file = join(scratch, "compare.yaml");
  writeFileSync(file, `routes: [{ name: ${ROUTE}, log: {} }]\n`);
  const server = await startCheckout(scratch, checkout, [], { CONFIG_FILE: file, LOG_LEVEL: "warn" });
  try {
    command(checkout, server, "pause");
    await playCorpus(server, { connections: CONNECTIONS, seconds: WARM_UP_SECONDS, corpus: warmUp });
    await settledQueue(server);
    command(checkout, server, "resume");
    const queued = await metricOf(server, "events_queued");
    const from = performance.now();
    while ((await metricOf(server, "events_queued")) > 0) await delay(50);
    return queued / ((performance.now() - from) / 1000);
  } finally {
    await server.stop();
  }
}

/** Resolves once no more events are added to the queue. */
async function settledQueue(server: Target): Promise<void> {
  for (let last = -1; ; ) {
    await delay(1000);
    const queued = await metricOf(server, "events_queued");
    if (queued === last) return;
    last = queued;
  }
}

function command(checkout: string, { env }: Target, verb: "pause" | "resume"): void {
  const args = [join(checkout, "src/cli/main.ts"), "routes", verb, ROUTE];
  const { status, stderr } = spawnSync(NODE, args, { env: { ...process.env, ...env }, encoding: "utf8" });
  if (status !== 0) throw new Error(`routes ${verb} failed: ${stderr}`);
}
