import type { SpawnOptions } from "node:child_process";

/** The command line of the process of transformations. Only this program runs it. */
export const EVALUATE = "evaluate-transformations";

/** How this program starts itself. Messages keep their bytes. */
export const OWN_PROCESS: SpawnOptions = {
  stdio: ["ignore", "ignore", "ignore", "ipc"],
  serialization: "advanced",
  env: {},
};
