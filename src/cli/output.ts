import { createLog, withoutRawControls } from "../log.ts";
import type { LogEvent } from "../log-events.ts";

/** Writes data to standard output. */
export function printData(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes words for a person to standard error. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Writes what is shown this once. When it cannot be written, `takeBack` is called before anybody hears of that, which may
 * end the process, and this rejects.
 */
export function showOnce(stream: NodeJS.WriteStream, text: string, takeBack: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(`${text}\n`, (error) => {
      if (!error) return resolve();
      takeBack();
      reject(error);
    });
  });
}

/** Tells a person in words, and as a line of the log whoever keeps standard error elsewhere. */
export function sayAndLog(line: { event: LogEvent } & Record<string, unknown>, words: string): void {
  if (process.stderr.isTTY) say(words);
  else createLog("info", { out: process.stderr }).info(line, words);
}

// A text holds no more than 512 MB, which a list of events can exceed.
const ITEMS_PER_PIECE = 1000;

export function printJson(value: unknown): void {
  if (Array.isArray(value) && value.length > ITEMS_PER_PIECE) {
    for (const piece of piecesOf(value)) process.stdout.write(piece);
  } else printData(jsonText(value));
}

/** The line of an array, piece by piece. */
function* piecesOf(values: readonly unknown[]): Generator<string> {
  const end = jsonText([0]).endsWith("\n]") ? "\n]" : "]";
  for (let from = 0; from < values.length; from += ITEMS_PER_PIECE) {
    const text = jsonText(values.slice(from, from + ITEMS_PER_PIECE));
    yield (from === 0 ? "[" : ",") + text.slice(1, -end.length);
  }
  yield `${end}\n`;
}

/** JSON in one line, also on a terminal. */
export function jsonLine(value: unknown): string {
  return withoutRawControls(JSON.stringify(value));
}

/** JSON as it is printed: readable on a terminal, else compact. */
export function jsonText(value: unknown): string {
  return withoutRawControls(JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0));
}

/** A number and what is counted: `1 delivery`, `2 deliveries`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
