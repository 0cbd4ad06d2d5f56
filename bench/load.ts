import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Target } from "./targets.ts";

export interface LoadResult {
  perSecond: number;
  requests: number;
  /** Answers that were no 2xx, and broken connections. */
  errors: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

export interface Load {
  connections: number;
  seconds: number;
  corpus: string;
  /** Line of the corpus to begin with, so that every delivery is unique. */
  start: number;
  /** Lines to load; more than the run can send. */
  count: number;
}

/** Plays a corpus with wrk, one thread, and reads its own summary. */
export async function playCorpus(target: Target, load: Load): Promise<LoadResult> {
  const args = [
    "-t1",
    `-c${load.connections}`,
    `-d${load.seconds}`,
    "--latency",
    "-s",
    join(import.meta.dirname, "deliveries.lua"),
  ];
  const env = { ...process.env, CORPUS: load.corpus, START: String(load.start), COUNT: String(load.count) };
  const child = spawn("wrk", [...args, target.url + target.path], { env });
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    out += chunk;
  });
  await new Promise((resolve, reject) => child.on("exit", resolve).on("error", reject));
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
