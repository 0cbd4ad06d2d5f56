/**
 * The folder in the data directory in which commands ask the running server for captures. Each has a folder of its own.
 */
export const CAPTURES_DIR = "captures";

/** What is to be captured: a file in the folder of a capture. */
export const ORDER_FILE = "order.json";

/** How the server goes about it: another file there. */
export const STATE_FILE = "state";

/** The end of the names of captured requests there. Sorted, the names are in the order of arrival. */
export const REQUEST_SUFFIX = ".request";

export const MAX_CAPTURED = 100;
export const MAX_CAPTURE_MS = 86_400_000;

/** `full`: the captured requests have reached the limit of their size. */
export type CaptureState = "open" | "full";

/** What a command asks for. */
export interface CaptureOrder {
  source: string;
  /** Unix milliseconds, by the clock of the machine. */
  until: number;
  count: number;
}

/** What is known of a captured request besides its bytes. */
export interface CapturedFacts {
  method: string;
  /** The path without the query. A secret in it is replaced. */
  path: string;
  /** What the server answered; null if the sender left before. */
  status: number | null;
  /** The sender's address; null if it is not known. */
  address: string | null;
  /** Unix milliseconds. */
  receivedAt: number;
}

/** Reads an order. Returns null if it is none. */
export function readOrder(text: string): CaptureOrder | null {
  try {
    const { source, until, count } = JSON.parse(text) as Partial<Record<keyof CaptureOrder, unknown>>;
    if (typeof source !== "string" || typeof until !== "number" || typeof count !== "number") return null;
    return { source, until, count: Math.min(count, MAX_CAPTURED) };
  } catch {
    return null;
  }
}

/** Writes a captured request: what is known of it as a line of JSON, then its bytes. */
export function writeCaptured(facts: CapturedFacts, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), bytes]);
}

/** Reads what {@link writeCaptured} has written. */
export function readCaptured(file: Buffer): { facts: CapturedFacts; bytes: Buffer } {
  const end = file.indexOf("\n");
  return { facts: JSON.parse(file.toString("utf8", 0, end)) as CapturedFacts, bytes: file.subarray(end + 1) };
}
