import { fstatSync } from "node:fs";
import { type DestinationStream, type Logger, pino } from "pino";
import { logText } from "./lib/log-text.ts";
import type { LogEvent } from "./log-events.ts";

type Write = (line: { event: LogEvent } & Record<string, unknown>, message: string) => void;

/** A structured log. Payloads, signatures, secrets and tokens are never passed in. */
export interface Log extends Pick<Logger, "isLevelEnabled"> {
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
}

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "silent"] as const;

// Lines kept while they cannot be written, e.g. on a full disk; what comes beyond is dropped.
const MAX_UNWRITTEN_BYTES = 1024 * 1024;

/** Writes a line, and returns whether it was kept. */
type WriteLine = (line: string) => boolean;

/** Opens standard output for log lines. No line holds anything up: those that nobody takes are kept, dropped, and counted. */
function openLogOutput(): DestinationStream {
  const stats = fstatSync(1, { throwIfNoEntry: false });
  const write = stats?.isFIFO() || stats?.isSocket() ? writeToPipe(process.stdout) : writeToFile();
  let dropped = 0;
  return {
    write(line) {
      if (dropped > 0 && write(droppedLine(dropped))) dropped = 0;
      if (!write(line)) dropped++;
    },
  };
}

/** A write to a pipe that nobody reads would never return; Node keeps such lines, without a bound. */
function writeToPipe(out: NodeJS.WriteStream): WriteLine {
  return (line) => {
    if (out.writableLength + line.length > MAX_UNWRITTEN_BYTES) return false;
    out.write(line);
    return true;
  };
}

/** A line that cannot be written is tried again with the next one. */
function writeToFile(): WriteLine {
  const out = pino.destination({ fd: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  let isKept = true;
  out.on("error", () => {});
  out.on("drop", () => {
    isKept = false;
  });
  return (line) => {
    isKept = true;
    out.write(line);
    return isKept;
  };
}

function droppedLine(count: number): string {
  const line = { level: "warn", time: new Date().toISOString(), event: "log_lines_dropped" satisfies LogEvent, count };
  return `${JSON.stringify({ ...line, message: "log lines that nobody took were dropped" })}\n`;
}

/** How a log is written: a JSON object a line, or words for a person. */
export const LOG_FORMATS = ["json", "text"] as const;

const WRITE_AS = { json: withoutRawControls, text: logText };

interface LogOptions {
  out?: DestinationStream;
  format?: (typeof LOG_FORMATS)[number];
}

/** Creates a log, on standard output and as JSON unless it is told otherwise. */
export function createLog(level: (typeof LOG_LEVELS)[number], options: LogOptions = {}): Log {
  const { out = openLogOutput(), format = "json" } = options;
  const written = WRITE_AS[format];
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => out.write(written(line)) },
  );
}

/** JSON with the control characters that it may leave raw, DEL and C1, escaped: a terminal would obey them. */
export function withoutRawControls(json: string): string {
  return json.replace(/[\u007f-\u009f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
