import { uptime } from "node:os";

/** Milliseconds since the start of the machine. This clock is never set, and goes on while the machine is suspended. */
export const sinceBootMs = (): number => uptime() * 1000;
