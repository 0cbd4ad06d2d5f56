import type { IncomingHttpHeaders } from "node:http";
import type { Source, VerifiedBy } from "../source.ts";
import type { BoundScheme, Candidate, RefusalReason, Verified } from "./bound-scheme.ts";
import { bindJws } from "./jws.ts";
import { bindJwt } from "./jwt.ts";
import type { Scheme } from "./schemes.ts";
import { bindSharedSecret } from "./shared-secret.ts";
import { bindSigned } from "./signed-scheme.ts";
import type { SignedRequest } from "./signed-text.ts";

/** The signatures of a delivery that may be valid, or why none can be. */
type ReadSignatures = { candidates: readonly Candidate[] } | { reason: RefusalReason };

/** Verifies deliveries with the schemes, secrets and keys of a source. */
interface Verifier {
  /** Reads the signatures from the headers, before the body is read. `now` is in Unix milliseconds. */
  read(headers: IncomingHttpHeaders, now: number): ReadSignatures;
  /** Returns how the request was signed if one of the signatures is valid, else why none is. */
  verify(request: SignedRequest, candidates: readonly Candidate[]): Verified | RefusalReason;
}

/** Creates the verifier of a source. A delivery is genuine if one scheme accepts it. Its methods never throw. */
export function createVerifier(source: VerifiedBy & Pick<Source, "schemes">): Verifier {
  const bound = source.schemes.map((scheme) => bind(scheme, source));
  return {
    read(headers, now) {
      const candidates: Candidate[] = [];
      let reason: RefusalReason = "no_signature";
      for (const scheme of bound) {
        const found = scheme.read(headers, now);
        if (typeof found === "function") candidates.push(found);
        else reason = further(reason, found);
      }
      // A scheme that failed here may have come further than those that still have to see the body.
      return candidates.length > 0 ? { candidates: [...candidates, () => reason] } : { reason };
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

function bind(scheme: Scheme, source: VerifiedBy): BoundScheme {
  switch (scheme.type) {
    case "jwt":
      return bindJwt(scheme, source);
    case "jws":
      return bindJws(scheme, source);
    case "token":
    case "basic":
      return bindSharedSecret(scheme, source.secrets);
    default:
      return bindSigned(scheme, source);
  }
}

/** In the order of the checks. */
const REASONS: readonly RefusalReason[] = [
  "no_signature",
  "malformed_signature",
  "timestamp_missing",
  "timestamp_too_old",
  "timestamp_in_future",
  "signature_mismatch",
  "secret_retired",
];

/** The reason of the scheme that came further. */
function further(one: RefusalReason, other: RefusalReason): RefusalReason {
  return REASONS.indexOf(other) > REASONS.indexOf(one) ? other : one;
}
