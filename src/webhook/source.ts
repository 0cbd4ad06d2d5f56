import type { BlockList } from "node:net";
import type { Scheme } from "./schemes.ts";

/** A sender of webhooks, as data. */
export interface Source {
  /** Names the sender in events, logs and commands. */
  name: string;
  path: string;
  /** The secrets that the sender may sign with, the newest first. */
  secrets: readonly string[];
  /** The accepted signature schemes. One valid signature is enough. */
  schemes: readonly Scheme[];
  /** Largest difference of a signed timestamp from the clock, either way. */
  toleranceSeconds: number;
  /**
   * What makes a duplicate if the event's id is not signed: the same bytes, or the same id. `id` is for senders that send
   * equal bodies as separate events.
   */
  dedupe: "bytes" | "id";
  /** Undefined allows every address. */
  allowedAddresses: BlockList | undefined;
  bodyLimitBytes: number;
}

/** The tolerance that senders recommend. */
export const DEFAULT_TOLERANCE_SECONDS = 300;
