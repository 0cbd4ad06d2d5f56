import type { BlockList } from "node:net";
import type { Scheme } from "./schemes.ts";

/** One sender, as data. */
export interface Source {
  /** Names the sender in events, logs and commands. */
  name: string;
  path: string;
  /** What the sender may sign with, the newest first. */
  secrets: readonly string[];
  /** How the sender may sign: any one of them is enough. */
  schemes: readonly Scheme[];
  /** Seconds that a signed timestamp may differ from the clock, either way. */
  toleranceSeconds: number;
  /**
   * What makes a duplicate where the event's id is not signed: the same bytes, or the same id (for senders that send equal
   * bodies as separate events).
   */
  dedupe: "bytes" | "id";
  /** Undefined admits every address. */
  allowedAddresses: BlockList | undefined;
  bodyLimitBytes: number;
}

/** The tolerance that senders themselves recommend. */
export const DEFAULT_TOLERANCE_SECONDS = 300;
