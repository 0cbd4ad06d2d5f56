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

// Lines are buffered while they cannot be written, e.g. on a full disk. Lines beyond this are dropped.
const MAX_UNWRITTEN_BYTES = 1024 * 1024;

/** Writes or buffers a line. Returns false if it was dropped. */
type WriteLine = (line: string) => boolean;

/**
 * Opens standard output for log lines. Logging never blocks: lines that cannot be written are buffered, then dropped.
 */
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

/** Node buffers lines for a pipe that nobody reads, without a limit. A blocking write would never return. */
function writeToPipe(out: NodeJS.WriteStream): WriteLine {
  return (line) => {
    if (out.writableLength + line.length > MAX_UNWRITTEN_BYTES) return false;
    out.write(line);
    return true;
  };
}

/** A line that cannot be written is written again with the next one. */
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
  return `${JSON.stringify({ ...line, message: "log lines that could not be written were dropped" })}\n`;
}

/** The formats of a log: one JSON object per line, or text for people. */
export const LOG_FORMATS = ["json", "text"] as const;

const FORMATTERS = { json: withoutRawControls, text: logText };

interface LogOptions {
  out?: DestinationStream;
  format?: (typeof LOG_FORMATS)[number];
}

/** Creates a log; by default JSON on standard output. */
export function createLog(level: (typeof LOG_LEVELS)[number], options: LogOptions = {}): Log {
  const { out = openLogOutput(), format = "json" } = options;
  const formatLine = FORMATTERS[format];
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => out.write(formatLine(line)) },
  );
}

// Of most lines none is beyond ASCII.
const NOT_PLAIN = /[\u007f-\uffff]/;
const SHOWN_OTHERWISE = /[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/gu;

/**
 * Escapes control and format characters, such as those that turn the direction of text. JSON allows them, but a
 * terminal would show another text.
 */
export function withoutRawControls(json: string): string {
  return NOT_PLAIN.test(json) ? json.replace(SHOWN_OTHERWISE, escaped) : json;
}

/** A character as JSON escapes it: one `\\u` for each of its UTF-16 code units. */
function escaped(character: string): string {
  const units = character.split("");
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
