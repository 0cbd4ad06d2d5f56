import { resolve } from "node:path";
import { readEnvironment } from "../config/env-file.ts";
import { namesRedis, readSettings } from "../config/settings.ts";
import { lockDataDir } from "../sqlite/data-dir.ts";
import { openDatabase } from "../sqlite/database.ts";
import { backUp, type Progress } from "../sqlite/maintenance/backup.ts";
import { requireBackup, restore } from "../sqlite/maintenance/restore.ts";
import { printJson, say } from "./output.ts";
import { requireDatabase } from "./stores.ts";

interface JsonOption {
  json?: boolean;
}

const BAR_WIDTH = 40;
// Brackets, percentage, and the last column, behind which a terminal begins a line.
const AROUND_BAR = 9;

/** Writes a backup of the database, beside a running server or without one. */
export async function runBackup(file: string, { json }: JsonOption): Promise<void> {
  const { DATA_DIR } = readSettings(readEnvironment(), ["DATA_DIR"]);
  requireDatabase(DATA_DIR);
  const database = openDatabase(DATA_DIR);
  try {
    const bytes = await backUp(database, resolve(file), process.stderr.isTTY ? drawBar : () => {});
    if (process.stderr.isTTY) process.stderr.write("\n");
    if (json) printJson({ file: resolve(file), bytes });
    else say(`Wrote ${file} (${(bytes / 1e6).toFixed(1)} MB, checked).`);
  } finally {
    database.close();
  }
}

const drawBar: Progress = (copied, total) => {
  const share = total === 0 ? 1 : copied / total;
  // A terminal that does not know its width says 0.
  const width = Math.max(0, Math.min(BAR_WIDTH, (process.stderr.columns || 80) - AROUND_BAR));
  const bar = "#".repeat(Math.round(share * width)).padEnd(width, ".");
  process.stderr.write(`\r[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`);
};

/** Puts a backup in the place of the database. Throws {@link OperatorError} while a server runs on it, or without a backup. */
export async function runRestore(file: string, { json }: JsonOption): Promise<void> {
  const environment = readEnvironment();
  const { DATA_DIR } = readSettings(environment, ["DATA_DIR"]);
  requireBackup(file);
  const release = lockDataDir(DATA_DIR);
  try {
    const { kept } = restore(resolve(file), resolve(DATA_DIR), new Date());
    if (json) return printJson({ restored: resolve(file), kept });
    const sessions = namesRedis(environment)
      ? "The session in Redis goes on, unless you run authserve session revoke"
      : "All sessions are ended";
    say(`Restored ${file}. ${sessions}; events that were processed since the backup are as they were in it.`);
    if (kept !== null) say(`The database that was replaced is ${kept}.`);
  } finally {
    release();
  }
}
