/**
 * `npm run bench` measures intake. `-- growth` fills the store and measures at each power of ten, `-- growth random`
 * with random ids. `-- sustained` delivers at a steady rate for minutes. `-- sources` compares many sources to one. `--
 * drain` measures how fast stored events are processed. `-- outage` takes one of two targets down while deliveries go
 * on. `-- retention` measures lists of many events, a backup and a purge beside deliveries, and an hour of events. `--
 * views` times each view of the page with five million events. `-- postgres` compares PostgreSQL with SQLite. `--
 * servers` measures 1, 2 and 3 servers on one PostgreSQL; `-- servers 1776` with so many more bytes in each payload.
 * `-- encryption` compares intake and search with a key and without. `-- parts` shows what each part of a delivery
 * costs. `-- compare COMMIT` measures this checkout beside another commit, by default that in `baseline`. `-- way`
 * compares job queues from receipt to handler. `-- cells` delivers while something fails, then for an hour.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { measureCells } from "./cells.ts";
import { drawChart } from "./chart.ts";
import { BASELINE, measureComparison } from "./compare.ts";
import { measureClaims, measureDrain } from "./drain.ts";
import { measureEncryptedSearch, measureEncryption } from "./encryption.ts";
import { figureLine, GOALS } from "./goals.ts";
import { measureGrowth } from "./growth.ts";
import { measureIntake, type Row } from "./intake.ts";
import { measureOutage } from "./outage.ts";
import { measureParts } from "./parts.ts";
import { measurePostgres } from "./postgres.ts";
import { measureBesideDeliveries, measureHour, measureLists, measureRoutesTest } from "./retention.ts";
import { measureServers } from "./servers.ts";
import { measureSources, measureVerification } from "./sources.ts";
import { measureSustained } from "./sustained.ts";
import { hundredths, printHead, printRow, tenths, whole } from "./table.ts";
import { buildProduct, makeScratch, removeScratch } from "./targets.ts";
import { measureViews } from "./views.ts";
import { measureWay } from "./way.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);

function printRows(rows: readonly Row[]): void {
  printHead([
    "server",
    "connections",
    "deliveries/s",
    "of bare node:http",
    "of HMAC + SQLite alone",
    "of NestJS + BullMQ",
    "p50 ms",
    "p99 ms",
    "errors",
  ]);
  for (const row of rows) {
    printRow([
      row.name,
      row.connections,
      whole(row.perSecond),
      hundredths(row.toCeiling),
      hundredths(row.toMinimum),
      hundredths(row.toNest),
      tenths(row.p50Ms),
      tenths(row.p99Ms),
      row.errors,
    ]);
  }
}

function printGoals(rows: readonly Row[]): void {
  const own = rows.filter(({ name }) => name === "authserve");
  const row = own.find(({ connections }) => connections === 64);
  if (!row) return;
  console.log();
  for (const { connections, toMinimum } of own)
    console.log(figureLine(`of HMAC + SQLite, ${connections}`, toMinimum.median, "x", GOALS.intakeOfMinimum));
  console.log(figureLine("of bare node:http", row.toCeiling.median, "x", GOALS.intakeOfBare));
  console.log(figureLine("of NestJS + BullMQ", row.toNest.median, "x", GOALS.intakeOfNest));
  console.log(figureLine("p99", row.p99Ms.median, "ms", GOALS.intakeP99Ms));
}

const scratch = makeScratch();
try {
  // Only checkouts are compared.
  if (!["compare", "parts", "encryption"].includes(process.argv[2] ?? "")) buildProduct();
  if (process.argv[2] === "compare") {
    await measureComparison(scratch, process.argv[3] ?? BASELINE, ROUNDS, SECONDS);
  } else if (process.argv[2] === "encryption") {
    await measureEncryption(scratch, ROUNDS, SECONDS);
    await measureEncryptedSearch(scratch);
  } else if (process.argv[2] === "parts") {
    await measureParts(scratch);
  } else if (process.argv[2] === "growth") {
    const ids = process.argv[3] === "random" ? "random" : "sequential";
    const total = Number(process.env.BENCH_EVENTS ?? 10_000_000);
    await measureGrowth(scratch, { total, ids, rounds: ROUNDS, seconds: SECONDS });
  } else if (process.argv[2] === "sources") {
    measureVerification();
    await measureSources(scratch, ROUNDS, SECONDS);
  } else if (process.argv[2] === "drain") {
    measureClaims(scratch);
    await measureDrain(scratch, ROUNDS);
  } else if (process.argv[2] === "retention") {
    measureLists(scratch, [100_000, 1_000_000, 5_000_000]);
    await measureBesideDeliveries(scratch, 1_000_000);
    await measureRoutesTest(scratch, 100_000);
    measureHour(scratch);
  } else if (process.argv[2] === "views") {
    await measureViews(scratch, Number(process.env.BENCH_EVENTS ?? 5_000_000));
  } else if (process.argv[2] === "postgres") {
    await measurePostgres(scratch, ROUNDS, SECONDS);
  } else if (process.argv[2] === "servers") {
    await measureServers(scratch, ROUNDS, SECONDS, Number(process.argv[3] ?? 0));
  } else if (process.argv[2] === "way") {
    await measureWay(scratch, ROUNDS, SECONDS);
  } else if (process.argv[2] === "cells") {
    await measureCells(scratch, Number(process.env.BENCH_SECONDS ?? 60), Number(process.env.BENCH_MINUTES ?? 60));
  } else if (process.argv[2] === "outage") {
    await measureOutage(scratch, Number(process.env.BENCH_MINUTES ?? 10), Number(process.env.BENCH_RATE ?? 500));
  } else if (process.argv[2] === "sustained") {
    await measureSustained(scratch, Number(process.env.BENCH_MINUTES ?? 10), Number(process.env.BENCH_RATE ?? 5000));
  } else {
    console.error(`${cpus().length} × ${cpus()[0]?.model}, ${ROUNDS} rounds of ${SECONDS} s`);
    const rows = await measureIntake(scratch, ROUNDS, SECONDS);
    printRows(rows);
    printGoals(rows);
    writeFileSync(
      join(import.meta.dirname, "results.json"),
      `${JSON.stringify({ rounds: ROUNDS, seconds: SECONDS, rows }, null, 2)}\n`,
    );
    writeFileSync(join(import.meta.dirname, "intake.svg"), drawChart(rows));
  }
} finally {
  removeScratch(scratch);
}
