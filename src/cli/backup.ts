import { resolve } from "node:path";
import { readEnvironment } from "../config/env-file.ts";
import { namesRedis, readSettings } from "../config/settings.ts";
import { lockDataDir } from "../sqlite/data-dir.ts";
import { openDatabase } from "../sqlite/database.ts";
import { backUp } from "../sqlite/maintenance/backup.ts";
import { requireBackup, restore } from "../sqlite/maintenance/restore.ts";
import { printJson, say } from "./output.ts";
import { createProgress, megabytesPerSecond } from "./progress.ts";
import { requireDatabase } from "./stores.ts";

interface BackupOptions {
  force?: boolean;
  json?: boolean;
}

/** Writes a backup of the database, beside a running server or without one. */
export async function runBackup(file: string, { force = false, json }: BackupOptions): Promise<void> {
  const { DATA_DIR } = readSettings(readEnvironment(), ["DATA_DIR"]);
  requireDatabase(DATA_DIR);
  const database = openDatabase(DATA_DIR);
  const progress = createProgress(megabytesPerSecond);
  try {
    const bytes = await backUp(database, resolve(file), { mayReplace: force, onProgress: progress.update });
    progress.end();
    if (json) printJson({ file: resolve(file), bytes });
    else say(`Wrote ${file} (${(bytes / 1e6).toFixed(1)} MB, checked).`);
  } finally {
    database.close();
  }
}

/** Puts a backup in the place of the database. Throws {@link OperatorError} while a server runs on it, or without a backup. */
export async function runRestore(file: string, { json }: { json?: boolean }): Promise<void> {
  const environment = readEnvironment();
  const { DATA_DIR } = readSettings(environment, ["DATA_DIR"]);
  requireBackup(file);
  const release = lockDataDir(DATA_DIR);
  const progress = createProgress(megabytesPerSecond);
  try {
    const { kept } = restore(resolve(file), resolve(DATA_DIR), new Date(), progress.update);
    progress.end();
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
