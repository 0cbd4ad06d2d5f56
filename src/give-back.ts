import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const AFTER_MS = 1000;

/**
 * Gives back once what starting up has left behind in this thread, about 10 MB in the main one: an idle server would
 * keep it, as nothing makes it collect. V8 hands out its collector only to contexts made after the flag is set.
 */
export function giveBackSoon(): void {
  setTimeout(() => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as (options: object) => void;
    setFlagsFromString("--no-expose-gc");
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
  }, AFTER_MS).unref();
}
