import type { Settings } from "../config/settings.ts";
import { replacedFiles } from "../sqlite/maintenance/restore.ts";
import { say } from "./output.ts";
import { shellWord } from "./shell-quote.ts";

/** Tells of the databases that a restore has kept: what they have is neither encrypted nor erased with the others. */
export function sayReplaced({ DATA_DIR, DATABASE_URL }: Pick<Settings, "DATA_DIR" | "DATABASE_URL">): void {
  const files = DATABASE_URL === undefined ? replacedFiles(DATA_DIR) : [];
  if (files.length === 0) return;
  say("A restore has kept the database before it, with all that was in it. Remove it when you no longer need it:");
  say(`  rm -- ${files.map(shellWord).join(" ")}`);
}
