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
import { freeBytes } from "../../lib/files.ts";
import { causeOf } from "../../sqlite/data-dir.ts";
import { DATABASE_FILE, databaseFile, LOG_ALONE } from "../../sqlite/database.ts";
import {
  HELD,
  type Inspection,
  inspectDatabase,
  isHeld,
  isLogAlone,
  readEventFacts,
} from "../../sqlite/maintenance/inspect.ts";
import { faultOfSchema, SCHEMA } from "../../sqlite/schema.ts";
import { counted } from "../output.ts";
import { type Finding, ok, warning, wrong } from "./finding.ts";

const LOW_BYTES = 1e9;
const EMPTY_BYTES = 100e6;
const FSYNC_ROUNDS = 20;
const SLOW_FSYNC_MS = 20;
const USELESS_FSYNC_MS = 500;

/** Schema and pages of the database, read and not changed; and when its newest event came. */
export function checkDatabase(dataDir: string): { findings: Finding[]; newestAt: number | null } {
  let file: string;
  try {
    if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === false) {
      const remedy = "name a directory in DATA_DIR, or none that is there";
      return { findings: [wrong("database", "DATA_DIR is no directory", remedy)], newestAt: null };
    }
    file = databaseFile(dataDir);
    if (isLogAlone(file)) {
      const remedy = `put its ${DATABASE_FILE} back, or restore a backup, which keeps the log`;
      return { findings: [wrong("database", LOG_ALONE, remedy)], newestAt: null };
    }
    if (!statSync(file, { throwIfNoEntry: false })) {
      if (lstatSync(join(dataDir, DATABASE_FILE), { throwIfNoEntry: false })) {
        const found = `${DATABASE_FILE} is a link that leads nowhere`;
        return { findings: [wrong("database", found, "remove it, or bring back what it leads to")], newestAt: null };
      }
      return { findings: [ok("database", "none yet: the first start makes it")], newestAt: null };
    }
  } catch (error) {
    const found = `DATA_DIR cannot be looked into (${systemCode(error)})`;
    const remedy = "name a directory, or run this as the user that the server runs as";
    return { findings: [wrong("database", found, remedy)], newestAt: null };
  }
  let inspection: Inspection;
  try {
    inspection = inspectDatabase(file);
  } catch (error) {
    const [found, remedy] = isHeld(error)
      ? [`cannot be read: ${HELD}`, "end that program, or wait for it"]
      : [
          `cannot be read (${describeError(causeOf(error, dirname(file)))})`,
          "give this user DATA_DIR, on a disk with space that it can write",
        ];
    return { findings: [wrong("database", found, remedy)], newestAt: null };
  }
  const { isOurs, schema } = inspection;
  const damage = inspection.damage.map((found) => wrong("database", found, RESTORE));
  if (damage.length > 0) return { findings: damage, newestAt: null };
  const findings = [ok("database", "quick_check found no damage")];
  if (!isOurs) findings.push(wrong("schema", "another program's database", "name another DATA_DIR"));
  else findings.push(checkSchema(schema));
  if (!isOurs || schema !== SCHEMA) return { findings, newestAt: null };
  const { newestAt, unreadable } = readEventFacts(file);
  if (unreadable > 0) {
    const found = `the events of ${counted(unreadable, "job", "jobs")} cannot be read: they are dead letters`;
    findings.push(wrong("database", found, `look at event_unreadable in the log, and at the disk; ${RESTORE}`));
  }
  return { findings, newestAt };
}

function checkSchema(schema: number): Finding {
  const fault = faultOfSchema(schema);
  if (fault) return wrong("schema", fault.found, fault.remedy);
  if (schema === SCHEMA) return ok("schema", `${schema}, this version's`);
  return warning("schema", `${schema} of ${SCHEMA}`, "the next start brings it up to date");
}

const RESTORE = "stop the server, copy DATA_DIR aside, then authserve restore FILE";

/** Whether this user may make the directory: in the nearest folder above it that is there. */
function canBeMade(dir: string): boolean {
  const parent = dirname(resolve(dir));
  try {
    // A link that leads nowhere.
    if (lstatSync(dir, { throwIfNoEntry: false })) return false;
    if (!existsSync(parent)) return canBeMade(parent);
    accessSync(parent, constants.W_OK | constants.X_OK);
    return statSync(parent).isDirectory();
  } catch {
    return false;
  }
}

export function checkSpace(dataDir: string): Finding {
  if (!existsSync(dataDir)) {
    return canBeMade(dataDir)
      ? ok("free disk", "DATA_DIR is not there yet: the first start makes it")
      : wrong("free disk", "DATA_DIR is not there and cannot be made", "name a directory that this user can write");
  }
  const free = freeBytes(dataDir);
  const found = `${Number.isFinite(free) ? `${(free / 1e9).toFixed(1)} GB` : "without a bound"} where DATA_DIR is`;
  if (free < EMPTY_BYTES) return wrong("free disk", found, "make space: deliveries are refused when it is full");
  return free < LOW_BYTES ? warning("free disk", found, "make space") : ok("free disk", found);
}

/** How long a commit has to wait for the disk. */
export function checkFsync(dataDir: string): Finding {
  if (!existsSync(dataDir)) return ok("fsync", "DATA_DIR is not there yet");
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
    const found = `${median.toFixed(2)} ms at the median of ${FSYNC_ROUNDS}`;
    const remedy = "put DATA_DIR on a faster disk: each acknowledged delivery waits for one";
    if (median > USELESS_FSYNC_MS) return wrong("fsync", found, remedy);
    return median > SLOW_FSYNC_MS ? warning("fsync", found, remedy) : ok("fsync", found);
  } catch (error) {
    const remedy = systemCode(error) === "ENOSPC" ? "make space, or remove files" : "give this user the directory";
    return wrong("fsync", `DATA_DIR cannot be written (${describeError(error)})`, remedy);
  }
}
