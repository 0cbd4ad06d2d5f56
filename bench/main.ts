/**
 * `npm run bench` measures intake; with `-- growth` it fills the store and measures by decade, with `-- sustained` it
 * delivers at a steady rate for minutes.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { drawChart } from "./chart.ts";
import { measureGrowth } from "./growth.ts";
import { measureIntake, type Row } from "./intake.ts";
import type { Spread } from "./load.ts";
import { measureSustained } from "./sustained.ts";
import { buildProduct, makeScratch, removeScratch } from "./targets.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);

const whole = ({ median, min, max }: Spread) => `${Math.round(median)} (${Math.round(min)}–${Math.round(max)})`;
const ratio = ({ median, min, max }: Spread) => `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
const ms = ({ median, min, max }: Spread) => `${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)})`;

function printRows(rows: readonly Row[]): void {
  console.log(
    "| server | connections | deliveries/s | of bare node:http | of NestJS + BullMQ | p50 ms | p99 ms | errors |",
  );
  console.log("|---|---|---|---|---|---|---|---|");
  for (const row of rows) {
    const cells = [
      row.name,
      row.connections,
      whole(row.perSecond),
      ratio(row.toCeiling),
      ratio(row.toNest),
      ms(row.p50Ms),
      ms(row.p99Ms),
      row.errors,
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

const scratch = makeScratch();
try {
  buildProduct();
  if (process.argv[2] === "growth") {
    await measureGrowth(scratch, Number(process.env.BENCH_EVENTS ?? 10_000_000));
  } else if (process.argv[2] === "sustained") {
    await measureSustained(scratch, Number(process.env.BENCH_MINUTES ?? 10), Number(process.env.BENCH_RATE ?? 5000));
  } else {
    console.error(`${cpus().length} × ${cpus()[0]?.model}, ${ROUNDS} rounds of ${SECONDS} s`);
    const rows = await measureIntake(scratch, ROUNDS, SECONDS);
    printRows(rows);
    writeFileSync(
      join(import.meta.dirname, "results.json"),
      `${JSON.stringify({ rounds: ROUNDS, seconds: SECONDS, rows }, null, 2)}\n`,
    );
    writeFileSync(join(import.meta.dirname, "intake.svg"), drawChart(rows));
  }
} finally {
  removeScratch(scratch);
}
