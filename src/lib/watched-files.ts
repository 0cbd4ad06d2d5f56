import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { systemCode } from "../errors.ts";
import { repeat } from "./repeat.ts";

const WATCH_INTERVAL_MS = 1000;

/**
 * Watches the listed files, which may change in every way: by a rename, a new symbolic link or a rewrite in place. The
 * list may change while they are read.
 */
export function createWatchedFiles(listFiles: () => readonly string[]) {
  let versionRead: string | undefined;
  return {
    /** Runs a function that reads the files. A change during it counts as a change after it. */
    reading<T>(read: () => T): T {
      const before = new Map(listFiles().map((file) => [file, fileVersionSync(file)]));
      try {
        return read();
      } finally {
        versionRead = listFiles()
          .map((file) => before.get(file) ?? fileVersionSync(file))
          .join();
      }
    },
    /** Calls `onChange` within a second of each change since the last read. Returns a function that ends this. */
    watch(onChange: () => void): () => void {
      let isWatched = true;
      const poll = async () => {
        const version = (await Promise.all(listFiles().map(fileVersion))).join();
        if (isWatched && version !== versionRead) onChange();
      };
      // What reads the files reports its own errors.
      const polling = repeat(poll, { firstMs: 0, everyMs: WATCH_INTERVAL_MS, onError: () => {} });
      return () => {
        isWatched = false;
        void polling.stop();
      };
    },
  };
}

function fileVersionSync(file: string): string {
  try {
    return versionOf(statSync(file, { bigint: true }));
  } catch (error) {
    return systemCode(error);
  }
}

/** Like {@link fileVersionSync}, without blocking the event loop on a slow disk. */
async function fileVersion(file: string): Promise<string> {
  return stat(file, { bigint: true }).then(versionOf, systemCode);
}

/** A text that changes whenever the file does. */
function versionOf(stats: BigIntStats): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  // Anything else, e.g. a shell's pipe, can be read only once.
  return stats.isFile() ? `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}` : "no file";
}
