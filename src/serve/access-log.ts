import { appendFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { AccessOutcome } from "../auth/access/denials.ts";
import { ACCESS_LOG_FILE, accessLine, OLDER_ACCESS_LOG_FILE } from "../auth/access/log-file.ts";
import { describeError, systemCode } from "../errors.ts";
import { type Repetition, repeat } from "../lib/repeat.ts";
import type { Wiring } from "./configuration.ts";

const WRITE_EVERY_MS = 500;

/** Two files of this size are kept: the newest decisions. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** What waits for a write. More of it is lost, rather than memory without end. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;

interface AccessLog {
  add(outcome: AccessOutcome): void;
  start(): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

/** Writes what forward-auth decides to a file, if `ACCESS_LOG` is on. A request never waits for it. */
export function openAccessLog({ settings, stores, log }: Pick<Wiring, "settings" | "stores" | "log">): AccessLog {
  if (settings.ACCESS_LOG === "off") return { add() {}, start() {}, async stop() {} };
  const file = join(settings.DATA_DIR, ACCESS_LOG_FILE);
  const older = join(settings.DATA_DIR, OLDER_ACCESS_LOG_FILE);
  let waiting = "";
  let writing: Repetition | undefined;

  async function write(): Promise<void> {
    if (waiting === "") return;
    if ((await sizeOf(file)) >= MAX_FILE_BYTES) await rename(file, older);
    const lines = waiting;
    waiting = "";
    await appendFile(file, lines, { mode: 0o600 });
  }

  function report(error: string): void {
    log.warn({ event: "access_log_error", error }, "decisions of forward-auth are missing in access.log");
  }

  return {
    add(outcome) {
      if (waiting.length < MAX_WAITING_CHARACTERS) waiting += accessLine(outcome, stores.now());
    },
    start() {
      writing = repeat(write, { everyMs: WRITE_EVERY_MS, onError: report });
    },
    async stop() {
      await writing?.stop();
      await write().catch((error: unknown) => report(describeError(error)));
    },
  };
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return 0;
    throw error;
  }
}
