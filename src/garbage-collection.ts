import { createHook } from "node:async_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const AFTER_MS = 1000;

type Collect = (options: { type: "major" | "minor"; execution: "sync"; flavor?: "last-resort" }) => void;

/**
 * Makes every object of this process in the young generation. V8 makes those old from the start whose kind has survived
 * before, and a request survives while it waits for its commit: the old ones among its objects would then keep all others
 * of it until the next full collection.
 */
export function makeObjectsYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}

let keptTick: object | undefined;

/**
 * Keeps one object of those that Node makes for each `process.nextTick`, of which a request takes five, and returns it.
 * While this thread has not yet compiled that code for good, a full collection that finds no tick waiting would take
 * their shape away, and V8 then never learns it again: a tick took 0.6 instead of 0.07 µs until the process ended.
 */
export function keepShapeOfTicks(): object | undefined {
  const hook = createHook({
    // Promises would be slower for good once they have been tracked.
    trackPromises: false,
    init(_id, type, _trigger, tick) {
      if (type === "TickObject") keptTick = tick;
    },
  }).enable();
  process.nextTick(() => {});
  hook.disable();
  return keptTick;
}

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
