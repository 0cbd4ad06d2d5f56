import { mkdtempSync, rmSync } from "node:fs";
import { resolve as absolute, join } from "node:path";
import { say } from "../../../src/cli/output.ts";
import { exitCodeOf, OperatorError, systemCode } from "../../../src/errors.ts";
import { prepareDataDir } from "../../../src/sqlite/data-dir.ts";

/** A test that runs in a folder. */
interface FolderTest<Result> {
  run(): Promise<Result>;
  /** Ends everything that may write to the folder. */
  abort(): Promise<void>;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The result of a test. `folder` is null if it was removed. */
interface Ended<Result> {
  result: Result;
  folder: string | null;
}

/**
 * Runs a test in a new folder (mode 0700) below `DATA_DIR`, so that it uses the server's disk. The folder is removed if
 * the test has passed, or a signal ends this process. Throws {@link OperatorError} if it cannot be made.
 */
export async function runInFolder<Result>(
  dataDir: string,
  createTest: (folder: string) => FolderTest<Result>,
  isPassed: (result: Result) => boolean,
): Promise<Ended<Result>> {
  // Before the folder exists: a signal may come right after it is made.
  const signals = watchSignals();
  try {
    const folder = makeFolder(dataDir);
    return await runUntilSignal(createTest(folder), folder, isPassed, signals);
  } finally {
    signals.stop();
  }
}

async function runUntilSignal<Result>(
  test: FolderTest<Result>,
  folder: string,
  isPassed: (result: Result) => boolean,
  signals: Signals,
): Promise<Ended<Result>> {
  try {
    const ended = await Promise.race([test.run().then((result) => ({ result })), signals.first]);
    if ("signal" in ended) {
      await test.abort();
      remove(folder);
      return await signals.endBy(ended.signal);
    }
    const { result } = ended;
    if (!isPassed(result)) return { result, folder };
    remove(folder);
    return { result, folder: null };
  } catch (error) {
    say(`The folder of the test is kept: ${folder}`);
    throw asFailure(error);
  }
}

const remove = (folder: string) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });

function makeFolder(dataDir: string): string {
  prepareDataDir(dataDir);
  try {
    return mkdtempSync(join(absolute(dataDir), "selftest-crash-"));
  } catch (error) {
    const found = `DATA_DIR cannot be written (${systemCode(error)})`;
    const remedy = "run this as the server's user, or name a directory on a disk with space";
    throw new OperatorError({ found, remedy }, exitCodeOf(error));
  }
}

/** A test that cannot go on has failed: the exit code is 1. */
function asFailure(error: unknown): unknown {
  return error instanceof OperatorError ? new OperatorError(error.fault ?? error.message, 1) : error;
}

interface Signals {
  /** Resolves at the first signal. */
  first: Promise<{ signal: NodeJS.Signals }>;
  /** From now on a signal ends this process again. */
  stop(): void;
  /** Ends this process as the signal would have. */
  endBy(signal: NodeJS.Signals): Promise<never>;
}

/** Holds back the signals that would end this process. */
function watchSignals(): Signals {
  const { promise: first, resolve } = Promise.withResolvers<{ signal: NodeJS.Signals }>();
  const onSignal = (signal: NodeJS.Signals) => resolve({ signal });
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const stop = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  return {
    first,
    stop,
    endBy(signal) {
      stop();
      process.kill(process.pid, signal);
      return new Promise(() => {});
    },
  };
}
