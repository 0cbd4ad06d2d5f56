import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Ids, writeCorpusFor } from "./corpus.ts";
import { type Target, WEBHOOK_SECRET } from "./targets.ts";

/** The warm-up time. For all servers except the bare one, the JIT compiler needs more than a second. */
export const WARM_UP_SECONDS = 3;

export interface LoadResult {
  perSecond: number;
  requests: number;
  /** Responses other than 2xx, and broken connections. */
  errors: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

export interface Load {
  connections: number;
  seconds: number;
  /** A file with more lines than the run can send. */
  corpus: string;
  /** Deliveries per second. Without it, as many as possible. */
  rate?: number;
  /** Spreads the deliveries over the paths of this many sources. Without it, the target's path is used. */
  sources?: number;
}

/** Plays a corpus with wrk, in one thread, and parses its output. */
export async function playCorpus(
  target: Target,
  { connections, seconds, corpus, rate = 0, sources = 0 }: Load,
): Promise<LoadResult> {
  const script = join(import.meta.dirname, "deliveries.lua");
  const args = ["-t1", `-c${connections}`, `-d${seconds}`, "--latency", "-s", script];
  const env = { ...process.env, CORPUS: corpus, RATE: String(rate), SOURCES: String(sources) };
  const out = await runWrk([...args, target.url + target.path], env);
  const match = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(out);
  if (!match) throw new Error(`wrk gave no result for ${target.name}: ${out}`);
  const [requests = 0, durationUs = 1, errors = 0, p50 = 0, p99 = 0, max = 0] = match.slice(1).map(Number);
  return {
    requests,
    perSecond: (requests * 1e6) / durationUs,
    errors,
    p50Ms: p50 / 1000,
    p99Ms: p99 / 1000,
    maxMs: max / 1000,
  };
}

/** The files for the warm-up and the measurement of a server. */
export interface Run {
  warmUp: string;
  corpus: string;
  seconds: number;
}

/** Writes unique deliveries for a warm-up and a run. */
export async function prepareRun(scratch: string, seconds: number, prefix: string, ids?: Ids): Promise<Run> {
  const run = { warmUp: join(scratch, "warm-up.tsv"), corpus: join(scratch, "corpus.tsv"), seconds };
  await writeCorpusFor(WARM_UP_SECONDS, run.warmUp, WEBHOOK_SECRET, `${prefix}w`, ids);
  await writeCorpusFor(seconds, run.corpus, WEBHOOK_SECRET, prefix, ids);
  return run;
}

/** Warms a server up and measures it. */
export async function playRun(
  target: Target,
  connections: number,
  { warmUp, ...run }: Run,
  sources = 0,
): Promise<LoadResult> {
  await playCorpus(target, { connections, seconds: WARM_UP_SECONDS, corpus: warmUp, sources });
  return playCorpus(target, { connections, ...run, sources });
}

/** Runs wrk and returns its output. */
export async function runWrk(args: string[], env = process.env): Promise<string> {
  const child = spawn("wrk", args, { env });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      out += chunk;
    });
  }
  await new Promise((resolve, reject) => child.on("exit", resolve).on("error", reject));
  return out;
}

export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spreadOf(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const median =
    sorted.length % 2 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
  return { median, min: sorted[0] as number, max: sorted.at(-1) as number };
}
