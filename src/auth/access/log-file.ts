import { isoTime } from "../../lib/iso-time.ts";
import { type AccessOutcome, UNNAMED } from "./denials.ts";

/** The log of decisions in the data directory: a JSON object a line, the oldest first. */
export const ACCESS_LOG_FILE = "access.log";

/** The file before it, when one has reached its size. */
export const OLDER_ACCESS_LOG_FILE = `${ACCESS_LOG_FILE}.1`;

/** A decision in the log. */
export interface AccessEntry extends Omit<AccessOutcome, "asked"> {
  /** ISO 8601. */
  at: string;
  method: string;
  /** Null if no trusted proxy named it. */
  host: string | null;
  /** Without the query, which may have secrets, and cut off. */
  path: string | null;
}

const MAX_PATH_LENGTH = 1000;

/** The line of a decision at a time in Unix milliseconds, with its end. */
export function accessLine({ asked: { place, method }, ...outcome }: AccessOutcome, at: number): string {
  const path = place?.path.slice(0, MAX_PATH_LENGTH) ?? null;
  const entry: AccessEntry = {
    at: isoTime(at),
    ...outcome,
    method: method ?? UNNAMED,
    host: place?.host ?? null,
    path,
  };
  return `${JSON.stringify(entry)}\n`;
}

/** Reads a line. Null if it is none, as after a full disk. */
export function readAccessLine(line: string): AccessEntry | null {
  try {
    const entry = JSON.parse(line) as Partial<AccessEntry> | null;
    return typeof entry?.at === "string" && typeof entry.decision === "string" ? (entry as AccessEntry) : null;
  } catch {
    return null;
  }
}
