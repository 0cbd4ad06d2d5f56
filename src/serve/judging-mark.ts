import { type FileHandle, open, readFile, rm } from "node:fs/promises";
import type { BeingJudged, JudgingMark } from "../worker/judging.ts";

/**
 * Keeps in a file what is being judged. Only the first line counts, so that each change is one write. It is not
 * flushed: a crash of this process leaves it, and one of the machine says nothing about an event.
 */
export function createJudgingMark(file: string): JudgingMark {
  let opened: FileHandle | undefined;

  async function write(line: string): Promise<void> {
    try {
      opened ??= await open(file, "w");
      await opened.write(`${line}\n`, 0);
    } catch {
      // Without the mark an event is still judged, within the bound of time.
    }
  }

  return {
    async read() {
      try {
        const [line = ""] = (await readFile(file, "utf8")).split("\n", 1);
        return JSON.parse(line) as BeingJudged;
      } catch {
        return null;
      }
    },
    write: (judged) => write(JSON.stringify(judged)),
    clear: () => write(""),
    async close() {
      await opened?.close();
      await rm(file, { force: true });
    },
  };
}
