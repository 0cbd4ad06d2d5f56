import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ACCESS_LOG_FILE, type AccessEntry, OLDER_ACCESS_LOG_FILE, readAccessLine } from "../auth/access/log-file.ts";
import { readEnvironment } from "../config/env-file.ts";
import { readSettings } from "../config/settings.ts";
import { OperatorError, systemCode } from "../errors.ts";
import { printable } from "../lib/printable.ts";
import { parseTime, wholeNumber } from "./option-values.ts";
import { jsonLine, printData, printJson, say } from "./output.ts";
import { type Column, printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

interface LogOptions {
  decision?: AccessEntry["decision"];
  host?: string;
  since?: string;
  limit: string;
  follow?: boolean;
  utc?: boolean;
  json?: boolean;
}

const MAX_LIMIT = 999_999;
const FOLLOW_INTERVAL_MS = 500;

/** Prints the newest decisions of forward-auth that the server of this directory has logged, the oldest first. */
export async function runAccessLog(options: LogOptions): Promise<void> {
  const { DATA_DIR, ACCESS_LOG } = readSettings(readEnvironment(), ["DATA_DIR", "ACCESS_LOG"]);
  const now = Date.now();
  const limit = wholeNumber("--limit", options.limit, MAX_LIMIT);
  const isWanted = conditionOf(options, now);
  const older = await createTail(join(DATA_DIR, OLDER_ACCESS_LOG_FILE))();
  const next = createTail(join(DATA_DIR, ACCESS_LOG_FILE));
  const entries = [...older, ...(await next())];
  if (entries.length === 0 && ACCESS_LOG === "off")
    throw new OperatorError({ found: "The server logs no decisions", remedy: "set ACCESS_LOG=on, and start it again" });
  const shown = entries.filter(isWanted).slice(-limit);
  if (options.follow) return follow(shown, next, isWanted, options);
  if (options.json) return printJson(shown);
  if (shown.length === 0) return say(entries.length > 0 ? "No decisions match." : "There are no decisions yet.");
  const time = timeFormat(options.utc, now);
  printTable(
    COLUMNS,
    shown.map((entry) => [time(Date.parse(entry.at)), ...cellsOf(entry)]),
  );
}

function conditionOf({ decision, host, since }: LogOptions, now: number): (entry: AccessEntry) => boolean {
  const from = since === undefined ? 0 : parseTime("--since", since, now);
  return (entry) =>
    (decision === undefined || entry.decision === decision) &&
    (host === undefined || entry.host === host.toLowerCase()) &&
    Date.parse(entry.at) >= from;
}

/** Returns the decisions that were logged since the last call, also after the server has begun another file. */
type Tail = () => Promise<AccessEntry[]>;

function createTail(file: string): Tail {
  let opened: FileHandle | null = null;
  let rest = "";
  return async () => {
    const isReplaced = opened === null || !(await isAt(file, opened));
    let text = rest + ((await opened?.readFile("utf8")) ?? "");
    if (isReplaced) {
      await opened?.close();
      opened = await openIfAny(file);
      text += (await opened?.readFile("utf8")) ?? "";
    }
    const lines = text.split("\n");
    rest = lines.pop() ?? "";
    return lines.flatMap((line) => readAccessLine(line) ?? []);
  };
}

async function isAt(file: string, opened: FileHandle): Promise<boolean> {
  const [current, own] = await Promise.all([stat(file).catch(() => null), opened.stat()]);
  return current === null || current.ino === own.ino;
}

async function openIfAny(file: string): Promise<FileHandle | null> {
  try {
    return await open(file);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return null;
    throw new OperatorError({ found: `${file} cannot be read (${code})`, remedy: "run this as the server's user" });
  }
}

const COLUMNS: Column[] = [
  { heading: "TIME" },
  { heading: "DECISION" },
  { heading: "ENTRY", givesWay: 2 },
  { heading: "WHO", leastWidth: 8 },
  { heading: "ADDRESS", givesWay: 3 },
  { heading: "METHOD", givesWay: 1 },
  { heading: "HOST", leastWidth: 10 },
  { heading: "PATH", leastWidth: 10 },
  { heading: "WHY", leastWidth: 8, givesWay: 0 },
];

function cellsOf(logged: AccessEntry): string[] {
  const { decision, entry, token, user, isBound, address, method, host, path, code } = logged;
  const who = token === null ? `${user ?? "-"}${isBound ? " bound" : ""}` : `token ${token}`;
  return [decision, String(entry ?? "-"), who, address, method, host ?? "-", path ?? "-", code ?? ""];
}

/** Prints a decision as a line. */
function printLine(entry: AccessEntry, { json }: LogOptions): void {
  printData(json ? jsonLine(entry) : [entry.at, ...cellsOf(entry).map(printable)].join("  ").trimEnd());
}

/** Prints decisions, then new ones as the server logs them, until the process ends. */
async function follow(
  shown: readonly AccessEntry[],
  next: Tail,
  isWanted: (entry: AccessEntry) => boolean,
  options: LogOptions,
): Promise<void> {
  for (let entries = shown; ; entries = (await next()).filter(isWanted)) {
    for (const entry of entries) printLine(entry, options);
    await delay(FOLLOW_INTERVAL_MS);
  }
}
