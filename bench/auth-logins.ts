/**
 * Measures logins per second against bare argon2 with the same cost and concurrency, and the latency of `/auth/me`
 * meanwhile.
 */
import { availableParallelism } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import * as argon2 from "@node-rs/argon2";
import { hashPassword } from "../src/auth/password.ts";
import { openClient, percentile, playLogins, tokenOf } from "./auth-load.ts";
import { type Spread, spreadOf } from "./load.ts";
import { PASSWORD, startProduct, type Target } from "./targets.ts";

const IN_FLIGHT = 64;
const ME_CONNECTIONS = 4;
const ME_PAUSE_MS = 5;
// At a few hundred logins per second, the JIT compiler needs this long.
const WARM_UP_SECONDS = 6;

interface LoginFigures {
  barePerSecond: Spread;
  loginsPerSecond: Spread;
  /** Calculated for each round. */
  ratio: Spread;
  meP50Ms: Spread;
  meP95Ms: Spread;
  meP99Ms: Spread;
}

export async function measureLogins(scratch: string, rounds: number, seconds: number): Promise<LoginFigures> {
  const hash = await hashPassword(PASSWORD);
  const bare: number[] = [];
  const logins: number[] = [];
  const times: number[][] = [];
  const target = await startProduct(scratch, { DEMO_PASSWORD: hash });
  try {
    await playLogins(target, IN_FLIGHT, WARM_UP_SECONDS);
    for (let round = 0; round < rounds; round++) {
      await untilIdle(target);
      bare.push(await barePerSecond(hash, seconds));
      logins.push(await playLogins(target, IN_FLIGHT, seconds));
      times.push(await meTimesDuringLogins(target, seconds));
    }
  } finally {
    await target.stop();
  }
  const share = (part: number) => spreadOf(times.map((round) => percentile(round, part)));
  return {
    barePerSecond: spreadOf(bare),
    loginsPerSecond: spreadOf(logins),
    ratio: spreadOf(logins.map((rate, round) => rate / (bare[round] ?? Number.NaN))),
    meP50Ms: share(0.5),
    meP95Ms: share(0.95),
    meP99Ms: share(0.99),
  };
}

/** Logins are answered in order, so all earlier ones are done when this one is. */
async function untilIdle(target: Target): Promise<void> {
  await tokenOf(target);
}

/** Hashes per second, with as many hashes at once as the server runs. */
async function barePerSecond(hash: string, seconds: number): Promise<number> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let count = 0;
  async function loop(): Promise<void> {
    while (performance.now() < endsAt) {
      if (!(await argon2.verify(hash, PASSWORD))) throw new Error("the bare hash does not fit");
      count++;
    }
  }
  await Promise.all(Array.from({ length: Math.max(availableParallelism() - 1, 1) }, loop));
  return (count * 1000) / (performance.now() - startedAt);
}

/** Times of `/auth/me` at a low rate. Each login ends the session, and the 401 costs one read more than a 200. */
async function meTimesDuringLogins(target: Target, seconds: number): Promise<number[]> {
  const token = await tokenOf(target);
  const client = openClient(target);
  const times: number[] = [];
  let isOver = false;
  async function ask(): Promise<void> {
    while (!isOver) {
      times.push((await client.me(token)).ms);
      await delay(ME_PAUSE_MS);
    }
  }
  try {
    const asking = Promise.all(Array.from({ length: ME_CONNECTIONS }, ask));
    await playLogins(target, IN_FLIGHT, seconds);
    isOver = true;
    await asking;
    return times;
  } finally {
    client.close();
  }
}
