import { createLog, withoutRawControls } from "../log.ts";
import type { LogEvent } from "../log-events.ts";

/** Writes data to standard output. */
export function printData(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes a message for a person to standard error. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Writes text. If that fails, calls `undo` and rejects. `undo` runs before the stream's error event, whose handler may
 * end the process.
 */
export function writeOrUndo(stream: NodeJS.WriteStream, text: string, undo: () => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(`${text}\n`, (error) => {
      if (!error) return resolve();
      void Promise.resolve(undo()).finally(() => reject(error));
    });
  });
}

/** Writes a message to a terminal, or a log line if standard error is not a terminal. */
export function sayOrLog(line: { event: LogEvent } & Record<string, unknown>, message: string): void {
  if (process.stderr.isTTY) say(message);
  else createLog("info", { out: process.stderr }).info(line, message);
}

// A string holds at most 512 MB. A list of events can be longer, so it is written in chunks.
const ITEMS_PER_CHUNK = 1000;

/** Writes a value as JSON to standard output. */
export function printJson(value: unknown): void {
  if (Array.isArray(value) && value.length > ITEMS_PER_CHUNK) {
    for (const chunk of chunksOf(value)) process.stdout.write(chunk);
  } else printData(jsonText(value));
}

/** The JSON of an array, in chunks. */
function* chunksOf(values: readonly unknown[]): Generator<string> {
  const end = jsonText([0]).endsWith("\n]") ? "\n]" : "]";
  for (let from = 0; from < values.length; from += ITEMS_PER_CHUNK) {
    const text = jsonText(values.slice(from, from + ITEMS_PER_CHUNK));
    yield (from === 0 ? "[" : ",") + text.slice(1, -end.length);
  }
  yield `${end}\n`;
}

/** JSON in one line, even on a terminal. */
export function jsonLine(value: unknown): string {
  return withoutRawControls(JSON.stringify(value));
}

/** JSON for output: indented on a terminal, else compact. */
export function jsonText(value: unknown): string {
  return withoutRawControls(JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0));
}

/** A number with its noun: `1 delivery`, `2 deliveries`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
