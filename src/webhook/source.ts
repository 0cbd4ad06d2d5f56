import type { BlockList } from "node:net";
import type { HeldBounds } from "./held-store.ts";
import type { Place, Scheme } from "./schemes.ts";

/** A sender of webhooks, as data. */
export interface Source {
  /** Names the sender in events, logs and commands. */
  name: string;
  path: string;
  /** The preset that `schemes` is from; null for other schemes. */
  preset: string | null;
  /** The secrets that the sender may sign with, the newest first. */
  secrets: readonly Secret[];
  /** The accepted signature schemes. One valid signature is enough. */
  schemes: readonly Scheme[];
  /** Largest difference of a signed timestamp from the clock, either way. Undefined: that of the scheme. */
  toleranceSeconds?: number;
  /** Where the id of an event is, first of all; `bytes` is the digest of the body. */
  id: readonly (Place | "bytes")[];
  /** Where the type of an event is, first of all. */
  type: readonly Place[];
  /**
   * What makes a duplicate if the event's id is not signed: the same bytes, or the same id. `id` is for senders that send
   * equal bodies as separate events.
   */
  dedupe: "bytes" | "id";
  /** Accepted media types and ranges, in lower case, e.g. `application/json` or `text/*`. */
  contentTypes: readonly string[];
  /** Whether a JSON body must be an object, and with `"object": "event"` an event of Stripe or OpenAI. */
  isEnvelope: boolean;
  /** Undefined allows every address. */
  allowedAddresses?: BlockList;
  /** `watch` only logs deliveries from other addresses. */
  addressMode: "enforce" | "watch";
  bodyLimitBytes: number;
  /** The longest usual time between two deliveries, in milliseconds. Longer silence is an alert. */
  expectEveryMs?: number;
  /** How many deliveries that were refused for their signature are kept. Undefined: none. */
  keepRejected?: HeldBounds;
}

/** A secret of a source. */
export interface Secret {
  /** Where it is set, e.g. `env:NAME`. This is shown and stored; the value is not. */
  name: string;
  value: string;
}
