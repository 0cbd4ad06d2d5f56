import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Runs the garbage collector. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  // V8 exposes `gc` only in contexts created while the flag is set.
  const collect = runInNewContext("gc") as (options: object) => void;
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
