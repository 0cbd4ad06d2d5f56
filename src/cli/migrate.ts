import { resolve } from "node:path";
import { readEnvironment } from "../config/env-file.ts";
import { DATABASE_SETTING_NAMES, readSettings } from "../config/settings.ts";
import { AppError, describeError, OperatorError, SettingsError } from "../errors.ts";
import { secondsSince } from "../lib/figures.ts";
import { connectPostgres, type PostgresOptions } from "../postgres/connection.ts";
import { beginImport, type ImportedStore } from "../postgres/maintenance/import.ts";
import { prepareSchema } from "../postgres/schema-update.ts";
import { type ExportedStore, openExport } from "../sqlite/maintenance/export.ts";
import { postgresOptions } from "../stores.ts";
import { copyStore, LANES } from "./copy-store.ts";
import { printJson, say } from "./output.ts";
import { createProgressBar } from "./progress.ts";
import { refuseIfServed } from "./served-dir.ts";
import { quietLog } from "./stores.ts";
import { printTable } from "./table.ts";

interface MigrateOptions {
  from: string;
  json?: boolean;
}

/** Copies the store of a data directory into the database of `DATABASE_URL`, and compares both. */
export async function runMigrate({ from, json }: MigrateOptions): Promise<void> {
  const startedAt = performance.now();
  const dataDir = resolve(from);
  const connection = connectionOptions();
  const source = openExport(dataDir);
  try {
    await refuseIfServed(dataDir);
    const { target, tables } = await copyInto(connection, source);
    const seconds = secondsSince(startedAt);
    if (json) return printJson({ from: dataDir, resumed: target.isResumed, seconds, tables });
    printTable(
      ["table", "rows"],
      Object.entries(tables).map(([name, rows]) => [name, String(rows)]),
    );
    say(`Copied and compared everything in ${seconds} s. ${dataDir} is unchanged, and is not used any more.`);
    say("Next: start the server with this DATABASE_URL.");
  } finally {
    source.close();
  }
}

async function copyInto(
  connection: PostgresOptions,
  source: ExportedStore,
): Promise<{ target: ImportedStore; tables: Record<string, number> }> {
  const progress = createProgressBar((rows) => `${Math.round(rows)} rows/s`);
  const postgres = connectPostgres(connection, { onUp() {}, onDown() {}, onUnnamed() {} });
  try {
    await prepareSchema(postgres, quietLog());
    const target = await beginImport(postgres, source.tables, source.fingerprint, Date.now());
    return { target, tables: await copyStore(source, target, progress.update) };
  } catch (error) {
    throw error instanceof AppError ? interrupted(error) : error;
  } finally {
    progress.end();
    await postgres.close();
  }
}

// A statement writes thousands of rows. Servers have a shorter limit.
const TIMEOUT_MS = 60_000;

function connectionOptions(): PostgresOptions {
  const settings = readSettings(readEnvironment(), DATABASE_SETTING_NAMES);
  if (settings.DATABASE_URL !== undefined)
    return { ...postgresOptions(settings, settings.DATABASE_URL), poolSize: LANES, timeoutMs: TIMEOUT_MS };
  const remedy = "set it to the database to copy into, e.g. postgres://user:password@host:5432/authserve";
  throw new SettingsError([{ found: "DATABASE_URL is not set", remedy }]);
}

/** What is copied stays: the next run goes on after it. */
function interrupted({ cause }: AppError): OperatorError {
  const found = `the database of DATABASE_URL cannot be used (${describeError(cause)})`;
  return new OperatorError({ found, remedy: "correct that, and run this again: it goes on where it stopped" }, 1);
}
