import { randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  lchownSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readSettings } from "../config/settings.ts";
import { readSources } from "../config/sources.ts";
import { describeError, OperatorError, systemCode } from "../errors.ts";
import { makeDir, replaceFile } from "../lib/files.ts";
import { isoTime } from "../lib/iso-time.ts";
import { printable } from "../lib/printable.ts";
import {
  CAPTURES_DIR,
  type CapturedFacts,
  type CaptureOrder,
  MAX_CAPTURE_MS,
  MAX_CAPTURED,
  ORDER_FILE,
  REQUEST_SUFFIX,
  readCaptured,
  STATE_FILE,
} from "../webhook/capture.ts";
import { findSource } from "./find-source.ts";
import { noteChange } from "./make-change.ts";
import { durationOption, wholeNumber } from "./option-values.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { probeServer } from "./running-server.ts";
import { shellWord } from "./shell-quote.ts";
import { withStoresIfAny } from "./stores.ts";

interface CaptureOptions {
  for: string;
  count: string;
  out?: string;
  json?: boolean;
}

const CAPTURE = { leastMs: 1, mostMs: MAX_CAPTURE_MS, text: "of at most 24h, e.g. 10m" };

const PROBE_MS = 5000;
const POLL_MS = 100;

// The server looks every half second.
const MAX_UNTIL_OPEN_MS = 10_000;

/** Requests that came before the end may still be answered. */
const LAST_ANSWERS_MS = 1000;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Lets the running server keep the next requests to a source, and writes each to a file with mode 0600. The exit code
 * is 1 if there was none.
 */
export async function runSourcesCapture(name: string, options: CaptureOptions): Promise<void> {
  const environment = readEnvironment();
  const { name: source, path } = findSource(readSources(environment), name);
  const forMs = durationOption("--for", options.for, CAPTURE);
  const count = wholeNumber("--count", options.count, MAX_CAPTURED);
  const out = folderOf(options.out ?? ".");
  const { DATA_DIR: dataDir } = readSettings(environment, ["DATA_DIR"]);
  await probeServer(dataDir, PROBE_MS);
  const ended = new AbortController();
  const end = () => ended.abort();
  for (const signal of SIGNALS) process.once(signal, end);
  await withStoresIfAny(environment, (stores) => noteChange(stores, "source.capture", { source, count, forMs }));
  const dir = placeOrder(dataDir, { source, until: Date.now() + forMs, count });
  try {
    await untilOpen(dir, ended.signal);
    const words = `Waiting for ${counted(count, "request")} to ${source}, for at most ${options.for}.`;
    say(`${words} The files hold credentials: remove them when you have explained them.`);
    const found = await collect(dir, { count, forMs, signal: ended.signal }, (facts, bytes) => {
      const file = writeNext(join(out, `capture-${source}`), bytes);
      if (!options.json) printData(file);
      say(printable(`${facts.method} ${facts.path}: ${facts.status ?? "the sender left before the answer"}`));
      return { file, ...facts, receivedAt: isoTime(facts.receivedAt) };
    });
    if (stateOf(dir) === "full") say("No more requests are kept: they have reached 10 MiB.");
    if (options.json) printJson(found);
    const [first] = found;
    if (first) say(`Explain the first with: ${explanationOf(source, first)}`);
    else
      throw new OperatorError(
        { found: `There was no request to ${source}`, remedy: `see whether its sender uses the path ${path}` },
        1,
      );
  } finally {
    rmSync(dir, { recursive: true, force: true });
    for (const signal of SIGNALS) process.off(signal, end);
  }
}

/** A folder that files can be written to. */
function folderOf(path: string): string {
  try {
    accessSync(join(path, "."), constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    const found = `No file can be written to ${path} (${systemCode(error)})`;
    throw new OperatorError({ found, remedy: "name a folder of yours with --out" });
  }
}

/** Asks the running server for a capture. Returns the folder of the capture, which withdraws it when it is removed. */
function placeOrder(dataDir: string, order: CaptureOrder): string {
  const root = join(dataDir, CAPTURES_DIR);
  const dir = join(root, randomUUID());
  try {
    makeDir(root);
    makeDir(dir);
    const file = join(dir, ORDER_FILE);
    replaceFile(file, JSON.stringify(order), { mode: 0o600, flush: false });
    // The server's user must read what root has made. That user could put links there, which are not followed.
    const { uid, gid } = statSync(dataDir);
    if (process.getuid?.() === 0) for (const path of [file, dir, root]) lchownSync(path, uid, gid);
    return dir;
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    const found = `${root} cannot be written (${describeError(error)})`;
    throw new OperatorError({ found, remedy: "run this as the server's user" }, 1);
  }
}

const stateOf = (dir: string) =>
  existsSync(join(dir, STATE_FILE)) ? readFileSync(join(dir, STATE_FILE), "utf8") : null;

async function untilOpen(dir: string, signal: AbortSignal): Promise<void> {
  const givesUpAt = performance.now() + MAX_UNTIL_OPEN_MS;
  while (stateOf(dir) === null && !signal.aborted) {
    if (performance.now() >= givesUpAt) {
      const found = "The running server does not begin to capture";
      throw new OperatorError({ found, remedy: "run this as its user, or see capture_error in its log" }, 1);
    }
    await pause(signal);
  }
}

/** Takes captured requests from the folder of a capture until there are enough, the time is over, or a signal comes. */
async function collect<T>(
  dir: string,
  { count, forMs, signal }: { count: number; forMs: number; signal: AbortSignal },
  take: (facts: CapturedFacts, bytes: Buffer) => T,
): Promise<T[]> {
  const endsAt = performance.now() + forMs + LAST_ANSWERS_MS;
  const found: T[] = [];
  for (;;) {
    const isLast = performance.now() >= endsAt || signal.aborted || stateOf(dir) === "full";
    const names = readdirSync(dir).filter((name) => name.endsWith(REQUEST_SUFFIX));
    for (const name of names.sort().slice(0, count - found.length)) {
      const { facts, bytes } = readCaptured(readFileSync(join(dir, name)));
      found.push(take(facts, bytes));
      rmSync(join(dir, name));
    }
    if (isLast || found.length === count) return found;
    await pause(signal);
  }
}

/** Waits a moment, or until a signal comes. */
const pause = (signal: AbortSignal) => delay(POLL_MS, undefined, { signal }).catch(() => {});

/** Writes the file with the next free number. */
function writeNext(prefix: string, bytes: Buffer): string {
  for (let number = 1; ; number += 1) {
    const file = `${prefix}-${number}.http`;
    try {
      writeFileSync(file, bytes, { mode: 0o600, flag: "wx" });
      return file;
    } catch (error) {
      if (systemCode(error) !== "EEXIST")
        throw new OperatorError(`${file} cannot be written (${describeError(error)})`, 1);
    }
  }
}

function explanationOf(source: string, captured: { file: string; address: string | null; receivedAt: string }): string {
  const address = captured.address === null ? "" : ` --address ${captured.address}`;
  return `authserve sources explain ${source} --at ${captured.receivedAt}${address} < ${shellWord(captured.file)}`;
}
