/** Measures whether the response time distinguishes an unknown e-mail from a wrong password. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { openClient } from "./auth-load.ts";
import { spreadOf } from "./load.ts";
import { startProduct } from "./targets.ts";

interface TimingFigures {
  pairs: number;
  unknownMedianMs: number;
  wrongMedianMs: number;
  /** The difference in percent of the median for a wrong password. */
  deltaPercent: number;
  /** Two-sided Mann–Whitney. */
  p: number;
}

// Below the 100 failures at which the e-mail would be throttled.
const PAIRS_PER_BATCH = 80;

/** Sends logins of both kinds in turn, in a random order within each pair. */
export async function measureTiming(scratch: string, pairs: number): Promise<TimingFigures> {
  const env = { TRUSTED_PROXIES: "127.0.0.1", LOG_LEVEL: "warn" };
  const target = await startProduct(scratch, env);
  const client = openClient(target);
  const unknown: number[] = [];
  const wrong: number[] = [];
  let sent = 0;

  async function guess(credentials: object, times: number[]): Promise<void> {
    // Each login has its own address, so that no address is throttled.
    const address = `198.18.${(sent >> 8) & 255}.${sent & 255}`;
    sent++;
    const { status, ms } = await client.login(credentials, { "X-Forwarded-For": address });
    if (status !== 401) throw new Error(`a wrong login was answered ${status}`);
    times.push(ms);
  }
  const guessUnknown = (times: number[]) => guess({ email: "nobody@example.com", password: "wrong password" }, times);
  const guessWrong = (times: number[]) => guess({ password: "wrong password" }, times);

  try {
    for (let warm = 0; warm < PAIRS_PER_BATCH / 2; warm++) {
      await guessUnknown([]);
      await guessWrong([]);
    }
    for (let pair = 0; pair < pairs; pair++) {
      if (pair % PAIRS_PER_BATCH === 0) clearThrottle(target.dir, target.env);
      const inOrder = [() => guessUnknown(unknown), () => guessWrong(wrong)];
      if (Math.random() < 0.5) inOrder.reverse();
      for (const run of inOrder) await run();
    }
  } finally {
    client.close();
    await target.stop();
  }
  const unknownMedianMs = spreadOf(unknown).median;
  const wrongMedianMs = spreadOf(wrong).median;
  const deltaPercent = ((unknownMedianMs - wrongMedianMs) / wrongMedianMs) * 100;
  return { pairs, unknownMedianMs, wrongMedianMs, deltaPercent, p: mannWhitney(unknown, wrong) };
}

function clearThrottle(dir: string, env: NodeJS.ProcessEnv): void {
  const command = join(import.meta.dirname, "../bin/authserve");
  const { status, stderr } = spawnSync(command, ["throttle", "clear"], { cwd: dir, env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`throttle clear failed: ${stderr}`);
}

/** The two-sided p of the Mann–Whitney test, by the normal approximation with its correction for ties. */
export function mannWhitney(a: readonly number[], b: readonly number[]): number {
  const all = [...a.map((value) => ({ value, isA: true })), ...b.map((value) => ({ value, isA: false }))];
  all.sort((x, y) => x.value - y.value);
  let rankSum = 0;
  let ties = 0;
  for (let from = 0; from < all.length; ) {
    let to = from;
    while (to < all.length && all[to]?.value === all[from]?.value) to++;
    const rank = (from + 1 + to) / 2;
    for (let i = from; i < to; i++) if (all[i]?.isA) rankSum += rank;
    ties += (to - from) ** 3 - (to - from);
    from = to;
  }
  const n = all.length;
  const u = rankSum - (a.length * (a.length + 1)) / 2;
  const mean = (a.length * b.length) / 2;
  const variance = ((a.length * b.length) / 12) * (n + 1 - ties / (n * (n - 1)));
  if (variance === 0) return 1;
  const z = Math.max(0, Math.abs(u - mean) - 0.5) / Math.sqrt(variance);
  return Math.min(1, 2 * (1 - normalShareBelow(z)));
}

/** The share of a standard normal distribution below z ≥ 0 (Abramowitz and Stegun, 26.2.17). */
function normalShareBelow(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const series = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
  const sum = series.reduce((total, factor, index) => total + factor * t ** (index + 1), 0);
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * sum;
}
