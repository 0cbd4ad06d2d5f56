/** That the contents of an event were erased. */
export interface Erasure {
  /** Unix milliseconds. */
  erasedAt: number;
  reason: string;
  /** The SHA-256 of the payload that was erased, in hex. */
  payloadSha256: string;
}

/** An erased event. */
export interface ErasedEvent extends Pick<Erasure, "payloadSha256"> {
  source: string;
  eventId: string;
  /** Unix milliseconds. */
  receivedAt: number;
  /** How many of its attempts were running. What they record afterwards is erased too. */
  running: number;
}

/** What is left outside of the rows of a store. */
export type Remains = "write_ahead_log" | "dead_rows";

/** Stands for a text of an attempt that was erased. */
export const ERASED = "erased";

/** Why the open jobs of an erased event are discarded. */
export const discardReason = (reason: string) => `${ERASED}: ${reason}`;
