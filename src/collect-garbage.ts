import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const AFTER_MS = 1000;

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/**
 * Collects this thread's garbage once, a second from now: an idle server would keep what starting up has left behind,
 * about 10 MB in the main thread, as nothing makes it collect.
 */
export function collectGarbageSoon(): void {
  setTimeout(() => takeCollector()({ type: "major", execution: "sync", flavor: "last-resort" }), AFTER_MS).unref();
}

/**
 * Takes this thread's collector, which V8 hands out to contexts made while a flag of the whole process is set. The flag
 * stays set: a thread that cleared it would take the collector from under another that has just set it.
 */
export function takeCollector(): Collect {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as Collect;
}
