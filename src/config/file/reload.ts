import { describeError, OperatorError } from "../../errors.ts";
import { createWatchedFiles } from "../../lib/watched-files.ts";
import type { Log } from "../../log.ts";
import type { ConfigFile } from "./config-file.ts";
import { ConfigFileError } from "./errors.ts";

/** The configuration file of a running server. */
export interface WatchedConfigFile {
  /** The newest without errors; null without a file. */
  readonly current: ConfigFile | null;
  /** What is wrong with a newer one, a line for each fault with its place; null if the newest is in use. */
  readonly fault: string | null;
  /** Reads the file again. */
  reload(): void;
  /**
   * Reads the file again whenever it changes, or the file of a module does. Calls `onReload` with it, or with the
   * reason why the one before it stays in use. Returns a function that ends the watch.
   */
  watch(onReload: (file: ConfigFile | null, fault: string | null) => void): () => void;
}

/** Reads the file, and throws what `read` throws. */
export function watchConfigFile(name: string, read: () => ConfigFile | null, log: Log): WatchedConfigFile {
  let modules: readonly string[] = [];
  const files = createWatchedFiles(() => [name, ...modules]);
  let current = files.reading(readFile);
  let faultInUse: string | null = null;
  let onReload = (_file: ConfigFile | null, _fault: string | null) => {};
  warn(current);

  function readFile(): ConfigFile | null {
    try {
      const file = read();
      modules = file?.modules ?? [];
      return file;
    } catch (error) {
      // A missing module may follow soon.
      if (error instanceof ConfigFileError) modules = error.modules;
      throw error;
    }
  }

  function warn(file: ConfigFile | null): void {
    for (const message of file?.warnings ?? []) log.warn({ event: "setting_warning" }, message);
  }

  function reload(): void {
    try {
      const next = files.reading(readFile);
      faultInUse = null;
      if (next === null && current === null) {
        onReload(null, null);
        return;
      }
      if (next === null) throw new OperatorError(`${name} is missing`);
      current = next;
      warn(next);
      const counts = { sources: next.sources.length, routes: next.routes?.length ?? 0 };
      log.info({ event: "config_reloaded", file: name, ...counts }, `${name} was reloaded`);
      onReload(next, null);
    } catch (error) {
      const fault = describeError(error);
      faultInUse = error instanceof OperatorError ? error.message : fault;
      log.error(
        { event: "config_reload_failed", file: name, errors: fault },
        "the configuration before it stays in use",
      );
      onReload(current, fault);
    }
  }

  return {
    get current() {
      return current;
    },
    get fault() {
      return faultInUse;
    },
    reload,
    watch(listener) {
      onReload = listener;
      return files.watch(reload);
    },
  };
}
