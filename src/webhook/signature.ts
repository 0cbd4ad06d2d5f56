import type { IncomingHttpHeaders } from "node:http";
import type { Candidate, RefusalReason, Verified } from "./bound-scheme.ts";
import { bindHmac } from "./hmac-scheme.ts";
import { bindSharedSecret } from "./shared-secret.ts";
import type { SignedRequest } from "./signed-text.ts";
import type { Source } from "./source.ts";

/** The signatures of a delivery that may be valid, or why none can be. */
export type ReadSignatures = { candidates: readonly Candidate[] } | { reason: RefusalReason };

/** Verifies deliveries with the schemes and secrets of a source. */
export interface Verifier {
  /** Reads the signatures from the headers, before the body is read. `now` is in Unix milliseconds. */
  read(headers: IncomingHttpHeaders, now: number): ReadSignatures;
  /** Returns how the request was signed if one of the signatures is valid, else why none is. */
  verify(request: SignedRequest, candidates: readonly Candidate[]): Verified | RefusalReason;
}

/** Creates the verifier of a source. A delivery is genuine if one scheme accepts it. Its methods never throw. */
export function createVerifier(source: Pick<Source, "schemes" | "secrets" | "toleranceSeconds">): Verifier {
  const { schemes, secrets, toleranceSeconds } = source;
  const bound = schemes.map((scheme) =>
    scheme.type === "hmac" ? bindHmac(scheme, secrets, toleranceSeconds) : bindSharedSecret(scheme, secrets),
  );
  return {
    read(headers, now) {
      const candidates: Candidate[] = [];
      let reason: RefusalReason = "no_signature";
      for (const scheme of bound) {
        const found = scheme.read(headers, now);
        if (typeof found === "function") candidates.push(found);
        else reason = further(reason, found);
      }
      return candidates.length > 0 ? { candidates } : { reason };
    },
    verify(request, candidates) {
      let reason: RefusalReason = "no_signature";
      for (const candidate of candidates) {
        const found = candidate(request);
        if (typeof found === "object") return found;
        reason = further(reason, found);
      }
      return reason;
    },
  };
}

/** In the order of the checks. */
const REASONS: readonly RefusalReason[] = [
  "no_signature",
  "malformed_signature",
  "timestamp_missing",
  "timestamp_too_old",
  "timestamp_in_future",
  "signature_mismatch",
];

/** The reason of the scheme that came further. */
function further(one: RefusalReason, other: RefusalReason): RefusalReason {
  return REASONS.indexOf(other) > REASONS.indexOf(one) ? other : one;
}
