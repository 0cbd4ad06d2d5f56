import type { SessionStore } from "../auth/sessions/store.ts";
import type { Settings } from "../config/settings.ts";
import type { Log, LogOutput } from "../log.ts";
import type { MetricsSnapshot } from "../metrics.ts";
import type { Storage } from "../storage/open.ts";
import type { Shared } from "./loop.ts";

/** The event loops that serve HTTP: one in this thread, or several in threads of their own. */
export interface HttpServing {
  port: number;
  /** What each loop has counted. */
  snapshots(): Promise<MetricsSnapshot[]>;
  /** Resolves when a loop has died: the process is to be stopped. */
  failed: Promise<void>;
  /** Answers what is in flight until the deadline. Throws `OperatorError` when a loop has died. */
  stop(deadlineMs: number): Promise<void>;
}

export interface ServingParts {
  settings: Settings;
  log: Log;
  /** Where the log's lines go, those of other threads too. */
  output: LogOutput;
  storage: Storage;
  sessions: SessionStore;
  shared: Shared;
}
