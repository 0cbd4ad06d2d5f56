import { type DestinationStream, type Logger, pino } from "pino";
import { withoutRawControls } from "./printable.ts";

type Write = (line: { event: LogEvent } & Record<string, unknown>, message: string) => void;

/** A structured log. Payloads, signatures, secrets and tokens are never passed in. */
export interface Log extends Pick<Logger, "flush" | "isLevelEnabled"> {
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
}

/** The stable names of log lines, for programs that read the log. */
export const LOG_EVENTS = [
  "server_started",
  "server_stopping",
  "server_stopped",
  "setting_warning",
  "request_completed",
  "request_failed",
  "not_ready",
  "login_succeeded",
  "login_failed",
  "login_throttled",
  "throttle_cleared",
  "session_superseded",
  "session_ended",
  "session_revoked",
  "delivery_conflict",
  "event_received",
  "event_processed",
  "event_retried",
  "event_dead_lettered",
  "lease_lost",
  "worker_error",
  "database_log_damaged",
  "storage_thread_died",
  "http_thread_died",
  "session_store_ready",
  "session_store_error",
  "tls_reloaded",
  "tls_reload_failed",
] as const;

export type LogEvent = (typeof LOG_EVENTS)[number];

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "silent"] as const;

/** Where log lines go. */
export interface LogOutput extends DestinationStream {
  /** Writes what has been gathered. */
  flush?(): void;
}

// Lines kept while they cannot be written, e.g. on a full disk; what comes beyond is dropped.
const MAX_UNWRITTEN_BYTES = 1024 * 1024;

/** Opens standard output for log lines. A line that cannot be written holds nothing up: it is tried again with the next one. */
export function openLogOutput(): LogOutput {
  const out = pino.destination({ fd: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  out.on("error", () => {});
  return writeEachTurn(out);
}

/** Creates a log: JSON lines with ISO times and level names, and with the members of `base`. */
export function createLog(level: (typeof LOG_LEVELS)[number], out = openLogOutput(), base: object | null = null): Log {
  const checked: LogOutput = {
    write: (line) => out.write(withoutRawControls(line)),
    flush: () => out.flush?.(),
  };
  return pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
    },
    checked,
  );
}

/**
 * Gathers the lines of one turn of the event loop and writes them at its end: a write costs more than the line it is for.
 * What a turn has gathered when the process exits is written then.
 */
export function writeEachTurn(out: LogOutput): LogOutput {
  let lines = "";
  const write = () => {
    if (lines === "") return;
    const gathered = lines;
    lines = "";
    out.write(gathered);
  };
  process.on("exit", write);
  return {
    write(line) {
      if (lines === "") setImmediate(write);
      lines += line;
    },
    flush: write,
  };
}
