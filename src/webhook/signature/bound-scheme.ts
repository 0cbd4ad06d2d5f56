import type { IncomingHttpHeaders } from "node:http";
import type { Scheme } from "./schemes.ts";
import type { Credential } from "./secret.ts";
import type { Credentials } from "./signature-check.ts";
import type { Covered, Options, SignedRequest } from "./signed-text.ts";

/** What a source verifies deliveries with. */
export interface SignatureSettings extends Credentials {
  /** The accepted signature schemes. One valid signature is enough. */
  schemes: readonly Scheme[];
  /** What the preset needs besides. */
  options?: Options;
  /** Largest difference of a signed timestamp from the clock, either way. Undefined: that of the scheme. */
  toleranceSeconds?: number;
  /** Scheme and host under which the server is reached, if it is configured. Signatures may cover them. */
  publicOrigin?: string;
}

/** Why a delivery is refused, for the log, in the order of the checks. The sender is never told. */
export const REFUSAL_REASONS = [
  "no_signature",
  "malformed_signature",
  "timestamp_missing",
  "timestamp_too_old",
  "timestamp_in_future",
  "signature_mismatch",
  "secret_retired",
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** How a genuine delivery was signed. */
export interface Verified {
  scheme: Scheme;
  secret: Credential;
  covers: Covered;
  /** The SHA-256 of the signed text in hex, if it decides what is the same event. */
  digest?: string;
  /** Those of the token that signs it. */
  claims?: Readonly<Record<string, unknown>>;
}

/** Verifies the signatures that a scheme found in the headers. */
export type Candidate = (request: SignedRequest) => Verified | RefusalReason;

/** A scheme with the secrets and keys of a source. */
export interface BoundScheme {
  /** Reads the headers, before the body is read. `now` is in Unix milliseconds. */
  read(headers: IncomingHttpHeaders, now: number): Candidate | RefusalReason;
}
