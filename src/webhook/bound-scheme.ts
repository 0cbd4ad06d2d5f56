import type { IncomingHttpHeaders } from "node:http";
import type { Scheme } from "./schemes.ts";
import type { Covered, SignedRequest } from "./signed-text.ts";
import type { Secret } from "./source.ts";

/** Why a delivery is refused, for the log. The sender is never told. */
export type RefusalReason =
  | "no_signature"
  | "malformed_signature"
  | "timestamp_missing"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "signature_mismatch";

/** How a genuine delivery was signed. */
export interface Verified {
  scheme: Scheme;
  secret: Secret;
  covers: Covered;
}

/** Verifies the signatures that a scheme found in the headers. */
export type Candidate = (request: SignedRequest) => Verified | RefusalReason;

/** A scheme with the secrets of a source. */
export interface BoundScheme {
  /** Reads the headers, before the body is read. `now` is in Unix milliseconds. */
  read(headers: IncomingHttpHeaders, now: number): Candidate | RefusalReason;
}
