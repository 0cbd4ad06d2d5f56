/** `node bench/auth.ts` measures token checks, logins, token checks during logins, and the timing of refused logins. */
import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { measureLogins } from "./auth-logins.ts";
import { measureMe } from "./auth-me.ts";
import { measureTiming } from "./auth-timing.ts";
import { measureVerify } from "./auth-verify.ts";
import { figureLine, GOALS } from "./goals.ts";
import { hundredths, printHead, printRow, whole } from "./table.ts";
import { buildNest, buildProduct, makeScratch, removeScratch, startRedis } from "./targets.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const TIMING_PAIRS = Number(process.env.BENCH_TIMING_PAIRS ?? 500);

function printTable(headings: string[], rows: string[][]): void {
  printHead(headings);
  for (const cells of rows) printRow(cells);
  console.log();
}

/** The folder of the built peer: PEER_NEST_DIR if it is set, else a new one; null if that fails. */
function nestFolder(scratch: string): string | null {
  const given = process.env.PEER_NEST_DIR;
  try {
    if (given === undefined) return buildNest(scratch);
    if (existsSync(join(given, "dist/main.js"))) return given;
    throw new Error(`${given} holds no dist/main.js`);
  } catch (error) {
    console.error(`NestJS did not run: ${(error as Error).message}`);
    return null;
  }
}

async function run(scratch: string): Promise<void> {
  const nest = nestFolder(scratch);
  const redis = await startRedis(scratch);
  try {
    const rows = await measureMe(scratch, redis.port, nest, ROUNDS, SECONDS);
    printTable(
      ["GET /auth/me", "requests/s", "of bare node:http", "of NestJS", "p99 ms", "errors"],
      rows.map(({ name, perSecond, toCeiling, toNest, p99Ms, errors }) => [
        name,
        whole(perSecond),
        hundredths(toCeiling),
        toNest === null ? "not run" : hundredths(toNest),
        hundredths(p99Ms),
        String(errors),
      ]),
    );
    const embedded = rows.find(({ name }) => name === "authserve, embedded");
    if (embedded) console.log(`${figureLine("of bare node:http", embedded.toCeiling.median, "x", GOALS.meOfBare)}\n`);
  } finally {
    await redis.stop();
  }

  const verify = await measureVerify(scratch, ROUNDS, SECONDS);
  printTable(
    ["GET /auth/verify", "requests/s"],
    [
      ["with a cookie", whole(verify.cookiePerSecond)],
      ["with a token and 1,000 entries of access", whole(verify.tokenPerSecond)],
    ],
  );
  console.log(`${figureLine("of that with a cookie", verify.ratio.median, "x", GOALS.verifyWithRules)}\n`);

  const logins = await measureLogins(scratch, ROUNDS, SECONDS);
  printTable(
    ["figure", "median (min–max)"],
    [
      ["argon2id alone, hashes/s", hundredths(logins.barePerSecond)],
      ["POST /auth/login, logins/s", hundredths(logins.loginsPerSecond)],
      ["logins of hashes", hundredths(logins.ratio)],
      ["/auth/me with 64 logins in flight, p50 ms", hundredths(logins.meP50Ms)],
      ["/auth/me with 64 logins in flight, p95 ms", hundredths(logins.meP95Ms)],
      ["/auth/me with 64 logins in flight, p99 ms", hundredths(logins.meP99Ms)],
    ],
  );

  const timing = await measureTiming(scratch, TIMING_PAIRS);
  printTable(
    ["refused logins", "median ms", "Δ median", "Mann–Whitney p, two-sided"],
    [
      [`${timing.pairs} with a wrong password`, timing.wrongMedianMs.toFixed(3), "", ""],
      [
        `${timing.pairs} with an unknown e-mail`,
        timing.unknownMedianMs.toFixed(3),
        `${timing.deltaPercent.toFixed(2)} %`,
        timing.p.toFixed(3),
      ],
    ],
  );
}

const scratch = makeScratch();
console.error(`${cpus().length} × ${cpus()[0]?.model}, ${ROUNDS} rounds of ${SECONDS} s`);
try {
  buildProduct();
  await run(scratch);
} finally {
  removeScratch(scratch);
}
