/** Logins a second against bare argon2 of the same cost and width, and what `/auth/me` takes meanwhile. */
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
// A few hundred logins a second take this long to be compiled.
const WARM_UP_SECONDS = 6;

export interface LoginFigures {
  barePerSecond: Spread;
  loginsPerSecond: Spread;
  /** Round by round. */
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

/** Logins wait in order: one that is answered was the last. */
async function untilIdle(target: Target): Promise<void> {
  await tokenOf(target);
}

/** As many hashes at once as the server runs, one after the other. */
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

/** Times of `/auth/me` at an easy pace; each login ends the session, and its 401 costs what a 200 does and a read more. */
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
