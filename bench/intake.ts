/** Measures verified and stored deliveries per second against the ceiling and the peers, in interleaved rounds. */
import { type LoadResult, playRun, prepareRun, type Spread, spreadOf } from "./load.ts";
import {
  buildNest,
  installExpress,
  startCeiling,
  startDebianWebhook,
  startExpress,
  startMinimum,
  startNest,
  startProduct,
  startRedis,
  type Target,
} from "./targets.ts";

export interface Row {
  name: string;
  connections: number;
  perSecond: Spread;
  p50Ms: Spread;
  p99Ms: Spread;
  errors: number;
  /** Ratios to the rates of the ceiling, the minimum and the NestJS peer, calculated for each round. */
  toCeiling: Spread;
  toMinimum: Spread;
  toNest: Spread;
}

const CONNECTIONS = [64, 256];

/** Measures all targets in turn in each round. Each run has a new, warmed-up server and unique deliveries. */
export async function measureIntake(scratch: string, rounds: number, seconds: number): Promise<Row[]> {
  const nest = buildNest(scratch);
  const express = installExpress(scratch);
  const redis = await startRedis(scratch);
  const durableRedis = await startRedis(scratch, "always");
  const starters: { name: string; start: () => Promise<Target | null> }[] = [
    { name: "bare node:http", start: () => startCeiling(scratch) },
    { name: "authserve", start: () => startProduct(scratch) },
    { name: "HMAC + SQLite alone", start: () => startMinimum(scratch) },
    { name: "NestJS + BullMQ", start: () => startNest(nest, redis.port) },
    { name: "Express + BullMQ, on disk", start: () => startExpress(express, durableRedis.port) },
    { name: "Debian webhook", start: () => startDebianWebhook(scratch) },
  ];
  const results = new Map<string, LoadResult[]>();
  try {
    for (let round = 0; round < rounds; round++) {
      for (const connections of CONNECTIONS) {
        const run = await prepareRun(scratch, seconds, `evt_${Date.now().toString(36)}_`);
        for (const { name, start } of starters) {
          const target = await start();
          if (target === null) {
            if (round === 0) console.error(`${name} did not run: it is not installed`);
            continue;
          }
          try {
            const result = await playRun(target, connections, run);
            const key = `${name}|${connections}`;
            results.set(key, [...(results.get(key) ?? []), result]);
            const { perSecond, p99Ms } = result;
            console.error(`round ${round + 1} ${name} ${connections}: ${Math.round(perSecond)}/s p99 ${p99Ms} ms`);
          } finally {
            await target.stop();
          }
        }
      }
    }
  } finally {
    await redis.stop();
    await durableRedis.stop();
  }
  const byConnections = (key: string) => CONNECTIONS.indexOf(Number(key.split("|")[1]));
  return [...results]
    .sort(([a], [b]) => byConnections(a) - byConnections(b))
    .map(([key, runs]) => toRow(key, runs, results));
}

function toRow(key: string, runs: LoadResult[], all: Map<string, LoadResult[]>): Row {
  const [name = "", connections = "0"] = key.split("|");
  const ratioTo = (other: string) => {
    const reference = all.get(`${other}|${connections}`) ?? [];
    return spreadOf(runs.map((run, round) => run.perSecond / (reference[round]?.perSecond ?? Number.NaN)));
  };
  return {
    name,
    connections: Number(connections),
    perSecond: spreadOf(runs.map((run) => run.perSecond)),
    p50Ms: spreadOf(runs.map((run) => run.p50Ms)),
    p99Ms: spreadOf(runs.map((run) => run.p99Ms)),
    errors: runs.reduce((sum, run) => sum + run.errors, 0),
    toCeiling: ratioTo("bare node:http"),
    toMinimum: ratioTo("HMAC + SQLite alone"),
    toNest: ratioTo("NestJS + BullMQ"),
  };
}
