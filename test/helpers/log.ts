import { createLog, type Log } from "../../src/log.ts";

type LogLine = Record<string, unknown> & { level: string; event: string };

/** A log whose lines the test can read. */
export function recordingLog(): { log: Log; lines: LogLine[]; named(event: string): LogLine[] } {
  const lines: LogLine[] = [];
  const log = createLog("debug", { out: { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) } });
  return { log, lines, named: (event) => lines.filter((line) => line.event === event) };
}
