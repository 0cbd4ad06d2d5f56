import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Frees whatever nothing refers to any more. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  // V8 hands the collector out to contexts that are made while the flag is set.
  const collect = runInNewContext("gc") as (options: object) => void;
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
