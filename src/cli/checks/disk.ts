import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describeError, systemCode } from "../../errors.ts";
import { diskSpace } from "../../lib/files.ts";
import { causeOf } from "../../sqlite/data-dir.ts";
import { DATABASE_FILE, databaseFile, ORPHANED_WAL } from "../../sqlite/database.ts";
import {
  BUSY,
  hasOnlyWal,
  type Inspection,
  inspectDatabase,
  isBusy,
  readEventFacts,
} from "../../sqlite/maintenance/inspect.ts";
import { isDiskReadOnly } from "../../sqlite/read-only.ts";
import { faultOfSchema, SCHEMA } from "../../sqlite/schema.ts";
import { tryFile } from "../../sqlite/trial.ts";
import { isDiskLow } from "../../webhook/intake/admission.ts";
import { counted } from "../output.ts";
import { faultOfServedLog } from "../served-dir.ts";
import { type Finding, ok, trialFindings, warning, wrong } from "./finding.ts";

const LOW_BYTES = 1e9;
const EMPTY_BYTES = 100e6;
// Of a small disk.
const LOW_SHARE = 0.3;
const EMPTY_SHARE = 0.1;
const FSYNC_ROUNDS = 20;
const SLOW_FSYNC_MS = 20;
const USELESS_FSYNC_MS = 500;

interface CheckedDatabase {
  findings: Finding[];
  /** The receipt of its newest event. */
  newestAt: number | null;
  /** Its schema, with the steps that it keeps. Missing if there is no database, or it cannot be used. */
  schema?: Pick<Inspection, "schema" | "steps">;
}

/** Checks the schema and pages of the database without changing it. */
export function checkDatabase(dataDir: string): CheckedDatabase {
  let file: string;
  try {
    if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === false) {
      const remedy = "set DATA_DIR to a directory, or to a path that does not exist yet";
      return { findings: [wrong("database", "DATA_DIR is not a directory", remedy)], newestAt: null };
    }
    file = databaseFile(dataDir);
    if (hasOnlyWal(file)) {
      const remedy = `put its ${DATABASE_FILE} back, or restore a backup, which keeps the log`;
      return { findings: [wrong("database", ORPHANED_WAL, remedy)], newestAt: null };
    }
    if (!statSync(file, { throwIfNoEntry: false })) {
      if (lstatSync(join(dataDir, DATABASE_FILE), { throwIfNoEntry: false })) {
        const found = `${DATABASE_FILE} is a link to a missing file`;
        return { findings: [wrong("database", found, "remove it, or restore the file that it names")], newestAt: null };
      }
      return { findings: [ok("database", "none yet: the first start creates it")], newestAt: null };
    }
  } catch (error) {
    const found = `DATA_DIR cannot be read (${systemCode(error)})`;
    const remedy = "set DATA_DIR to a directory, or run this as the server's user";
    return { findings: [wrong("database", found, remedy)], newestAt: null };
  }
  const displaced = faultOfServedLog(dataDir);
  if (displaced) return { findings: [wrong("database", displaced.found, displaced.remedy)], newestAt: null };
  let inspection: Inspection;
  try {
    inspection = inspectDatabase(file);
  } catch (error) {
    const [found, remedy] = isBusy(error)
      ? [`cannot be read: ${BUSY}`, "end that program, or wait for it"]
      : [
          `cannot be read (${describeError(causeOf(error, dirname(file)))})`,
          "make DATA_DIR writable for this user, on a disk with free space",
        ];
    return { findings: [wrong("database", found, remedy)], newestAt: null };
  }
  const { isOurs, schema, steps } = inspection;
  const damage = inspection.damage.map((found) => wrong("database", found, RESTORE));
  if (damage.length > 0) return { findings: damage, newestAt: null };
  const findings = [ok("database", "quick_check found no damage")];
  if (!isOurs) findings.push(wrong("schema", "the database belongs to another program", "set another DATA_DIR"));
  else findings.push(checkSchema(schema, steps));
  if (!isOurs) return { findings, newestAt: null };
  if (schema !== SCHEMA || faultOfSchema(schema, steps)) return { findings, newestAt: null, schema: inspection };
  // Every write would fail there, which the check of the disk reports.
  const refused = isDiskReadOnly(file) ? [] : trialFindings(tryFile(file));
  findings.push(...refused);
  if (refused.some(({ verdict }) => verdict === "wrong")) return { findings, newestAt: null, schema: inspection };
  const { newestAt, unreadable } = readEventFacts(file);
  if (unreadable > 0) {
    const found = `the events of ${counted(unreadable, "job")} cannot be read and are dead letters`;
    findings.push(wrong("database", found, `see event_unreadable in the log, and check the disk; ${RESTORE}`));
  }
  return { findings, newestAt, schema: inspection };
}

function checkSchema(schema: number, steps: readonly string[]): Finding {
  const fault = faultOfSchema(schema, steps);
  if (fault) return wrong("schema", fault.found, fault.remedy);
  if (schema === SCHEMA) return ok("schema", `${schema}, the current one`);
  return warning("schema", `${schema}, older than ${SCHEMA}`, "the next start migrates it");
}

const RESTORE = "stop the server, copy DATA_DIR to a safe place, then run authserve restore FILE";

/** Whether this user may create the directory in its nearest existing parent. */
function canBeCreated(dir: string): boolean {
  const parent = dirname(resolve(dir));
  try {
    // A broken link: it exists, but its target does not.
    if (lstatSync(dir, { throwIfNoEntry: false })) return false;
    if (!existsSync(parent)) return canBeCreated(parent);
    accessSync(parent, constants.W_OK | constants.X_OK);
    return statSync(parent).isDirectory();
  } catch {
    return false;
  }
}

/** Checks the free space. `minFreeBytes` is `MIN_FREE_DISK`. */
export function checkSpace(dataDir: string, minFreeBytes: number | undefined): Finding {
  if (!existsSync(dataDir)) {
    return canBeCreated(dataDir)
      ? ok("free disk", "DATA_DIR does not exist yet: the first start creates it")
      : wrong(
          "free disk",
          "DATA_DIR does not exist and cannot be created",
          "set it to a directory that this user can write",
        );
  }
  const space = diskSpace(dataDir);
  const { freeBytes: free, sizeBytes: size } = space;
  const found = `${Number.isFinite(free) ? spaceText(free) : "unlimited"} for DATA_DIR`;
  if (isDiskLow(false, space, minFreeBytes))
    return wrong("free disk", found, "make space, or lower MIN_FREE_DISK: below it deliveries are paused");
  if (free < Math.min(EMPTY_BYTES, EMPTY_SHARE * size))
    return wrong("free disk", found, "make space: a full disk refuses deliveries");
  return free < Math.min(LOW_BYTES, LOW_SHARE * size)
    ? warning("free disk", found, "make space")
    : ok("free disk", found);
}

const spaceText = (bytes: number) => (bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`);

const WRITE_REMEDIES: Record<string, string> = {
  ENOSPC: "make space, or remove files",
  EROFS:
    "see the system's log for errors of the disk, which it then mounts read-only; back up to another disk, and repair it",
};

/** Measures how long a commit waits for the disk. */
export function checkFsync(dataDir: string): Finding {
  if (!existsSync(dataDir)) return ok("fsync", "DATA_DIR does not exist yet");
  const file = join(dataDir, `doctor.${process.pid}`);
  try {
    const fd = openSync(file, "wx", 0o600);
    const times: number[] = [];
    try {
      for (let round = 0; round < FSYNC_ROUNDS; round++) {
        const from = performance.now();
        writeSync(fd, Buffer.alloc(4096, round));
        fsyncSync(fd);
        times.push(performance.now() - from);
      }
    } finally {
      closeSync(fd);
      rmSync(file);
    }
    const median = times.sort((a, b) => a - b)[FSYNC_ROUNDS / 2] ?? 0;
    const found = `${median.toFixed(2)} ms, the median of ${FSYNC_ROUNDS}`;
    const remedy = "put DATA_DIR on a faster disk: each delivery waits for an fsync";
    if (median > USELESS_FSYNC_MS) return wrong("fsync", found, remedy);
    return median > SLOW_FSYNC_MS ? warning("fsync", found, remedy) : ok("fsync", found);
  } catch (error) {
    const remedy = WRITE_REMEDIES[systemCode(error)] ?? "make it writable for this user";
    return wrong("fsync", `DATA_DIR cannot be written (${describeError(error)})`, remedy);
  }
}
