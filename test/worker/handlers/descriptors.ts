import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";

/** Runs something while this process has no file descriptor left. */
export async function withoutDescriptors<T>(run: () => Promise<T>): Promise<T> {
  // With a limit of a million this would take long. A system without prlimit has a low one.
  spawnSync("prlimit", ["--pid", String(process.pid), "--nofile=256:"]);
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    return await run();
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
}
