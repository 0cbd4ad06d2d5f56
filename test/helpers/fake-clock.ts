import { existsSync } from "node:fs";
import { needs } from "./back-end.ts";

/** Debian's library that changes the clock of a process. */
const FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

export const needsFaketime = () => needs("a wrong clock", () => existsSync(FAKETIME), "install faketime");

const PRELOAD = { LD_PRELOAD: FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC: "1" };

/** The environment of a process whose clock is off by some time, such as `-90s`. */
export const clockOff = (by: string) => ({ ...PRELOAD, FAKETIME: by });

/** The environment of a process whose clock is off by what a file says, which may change. */
export const clockOffBy = (file: string) => ({
  ...PRELOAD,
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_CACHE_DURATION: "1",
});
