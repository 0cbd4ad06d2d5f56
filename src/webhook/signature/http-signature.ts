import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { splitTarget } from "../../lib/request-target.ts";
import { isInQuery } from "../content/body.ts";
import { addressesOf } from "./address-forms.ts";
import type { BoundScheme, RefusalReason, SignatureSettings, Verified } from "./bound-scheme.ts";
import { type HttpSignature, readDigests, readDraftSignature, readHttpSignatures } from "./http-signature-fields.ts";
import { isMacOf, isSignedWith, keyFor } from "./jwt.ts";
import {
  DEFAULT_TOLERANCE_SECONDS,
  HTTP_NAMES,
  type HttpSignatureScheme,
  type JwtAlgorithm,
  usesSecret,
} from "./schemes.ts";
import { type Credential, keysOf } from "./secret.ts";
import { withoutScheme } from "./signature-items.ts";
import { headerText, type SignedRequest } from "./signed-text.ts";
import { parseTimestamp } from "./timestamp.ts";

/** Prepares a scheme of signatures of parts of the request, for the secrets or keys of a source. */
export function bindHttpSignature(scheme: HttpSignatureScheme, source: SignatureSettings): BoundScheme {
  const isDraft = scheme.draft !== undefined;
  const { keys = [], toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = source;
  const secrets = source.secrets.flatMap((secret) => keysOf(scheme.key, secret.value).map((key) => ({ secret, key })));

  function faultOfTime(signature: HttpSignature, headers: IncomingHttpHeaders, now: number): RefusalReason | null {
    const { expires } = signature.parameters;
    const made = isDraft ? draftTime(signature, headers) : signature.parameters.created;
    if (typeof made !== "number") return "timestamp_missing";
    if (expires !== undefined && typeof expires !== "number") return "malformed_signature";
    const seconds = Math.floor(now / 1000);
    if (seconds - made > toleranceSeconds || (expires !== undefined && expires < seconds)) return "timestamp_too_old";
    return made - seconds > toleranceSeconds ? "timestamp_in_future" : null;
  }

  /** The secret or key that a signature of a text is right for. */
  function credentialOf({ parameters, signature }: HttpSignature, text: Buffer): Credential | undefined {
    const { keyid = parameters.keyId } = parameters;
    const named = algorithmNamed(parameters);
    const accepted = scheme.algorithms.filter((algorithm) => named === undefined || named === algorithm);
    if (accepted.some(usesSecret)) return secrets.find(({ key }) => isMacOf("sha256", key, text, signature))?.secret;
    return keyFor(keys, keyid, (key) => accepted.some((algorithm) => isSignedWith(algorithm, key, text, signature)));
  }

  function verifyOne(signature: HttpSignature, request: SignedRequest): Verified | RefusalReason {
    const { components } = signature;
    for (const address of addressesOf(request, source.publicOrigin)) {
      const text = isDraft ? draftBase(signature, address) : signatureBase(signature, address);
      const secret = text && credentialOf(signature, text);
      if (!secret) continue;
      const body = coveredBody(components, request);
      if (body === "wrong" || (body === "none" && !scheme.isBodyOptional)) return "signature_mismatch";
      const headers = components.filter((name) => /^[a-z0-9]/.test(name));
      return { scheme, secret, covers: { body: body === "covered", members: [], headers } };
    }
    return "signature_mismatch";
  }

  return {
    read(headers, now) {
      const signatures = signaturesIn(scheme, headers);
      if (typeof signatures === "string") return signatures;
      const faults = signatures.map((signature) => faultOfTime(signature, headers, now));
      const inTime = signatures.filter((_, index) => faults[index] === null);
      if (inTime.length === 0) return faults[0] ?? "malformed_signature";
      return (request) => {
        for (const signature of inTime) {
          const verified = verifyOne(signature, request);
          if (typeof verified === "object") return verified;
        }
        return "signature_mismatch";
      };
    },
  };
}

function signaturesIn(scheme: HttpSignatureScheme, headers: IncomingHttpHeaders): HttpSignature[] | RefusalReason {
  if (scheme.draft !== undefined) {
    const value = headerText(headers, scheme.draft);
    if (value === undefined) return "no_signature";
    const signature = readDraftSignature(withoutScheme(value, "Signature "));
    return signature === null ? "malformed_signature" : [signature];
  }
  const [input, value] = ["signature-input", "signature"].map((name) => headerText(headers, name));
  if (input === undefined || value === undefined) return "no_signature";
  const signatures = readHttpSignatures(input, value);
  return signatures === null || signatures.length === 0 ? "malformed_signature" : signatures;
}

const BY_NAME: Readonly<Record<string, JwtAlgorithm>> = {
  ...Object.fromEntries(Object.entries(HTTP_NAMES).map(([algorithm, name]) => [name, algorithm as JwtAlgorithm])),
  // The names of the draft.
  "rsa-sha256": "RS256",
  "ecdsa-sha256": "ES256",
};

/** The algorithm that a signature names; undefined if the key decides. Null for an unknown one. */
function algorithmNamed({ alg, algorithm = alg }: HttpSignature["parameters"]): JwtAlgorithm | undefined | null {
  if (algorithm === undefined || algorithm === "hs2019") return undefined;
  return algorithm !== null && Object.hasOwn(BY_NAME, algorithm) ? BY_NAME[algorithm] : null;
}

/** The signed time of a signature of the draft in Unix seconds. */
function draftTime({ components, parameters }: HttpSignature, headers: IncomingHttpHeaders): unknown {
  if (components.includes("(created)")) return parameters.created;
  const date = components.includes("date") ? parseTimestamp(headerText(headers, "date") ?? "", "http") : null;
  return date === null ? undefined : date / 1000;
}

/** The text that is signed (RFC 9421, 2.5); null if the request lacks a component. */
export function signatureBase(
  { components, signedParameters }: Pick<HttpSignature, "components" | "signedParameters">,
  request: SignedRequest,
): Buffer | null {
  const lines: string[] = [];
  for (const name of components) {
    const value = componentOf(name, request);
    if (value === undefined) return null;
    lines.push(`"${name}": ${value}\n`);
  }
  return Buffer.from(`${lines.join("")}"@signature-params": ${signedParameters}`, "latin1");
}

/** The value of a component; undefined if the request lacks it. */
function componentOf(name: string, { method, origin, target, headers }: SignedRequest): string | undefined {
  const [path, query] = splitTarget(target);
  switch (name) {
    case "@method":
      return method;
    case "@target-uri":
      return origin + target;
    case "@authority":
      // In lower case, without the usual port.
      return URL.parse(origin)?.host;
    case "@scheme":
      return origin.slice(0, origin.indexOf(":"));
    case "@request-target":
      return target;
    case "@path":
      return path === "" ? "/" : path;
    case "@query":
      return `?${query ?? ""}`;
    default:
      return headerText(headers, name);
  }
}

/** The text that is signed in the draft, 2.3; null if the request lacks a part. */
export function draftBase(
  { components, parameters }: Pick<HttpSignature, "components" | "parameters">,
  request: SignedRequest,
): Buffer | null {
  const lines: string[] = [];
  for (const name of components) {
    const value = draftComponentOf(name, parameters, request);
    if (value === undefined || value === null) return null;
    lines.push(`${name}: ${value}`);
  }
  return Buffer.from(lines.join("\n"), "latin1");
}

function draftComponentOf(
  name: string,
  { created, expires }: HttpSignature["parameters"],
  { method, target, headers }: SignedRequest,
): string | number | null | undefined {
  if (name === "(request-target)") return `${method.toLowerCase()} ${target}`;
  if (name === "(created)") return created;
  return name === "(expires)" ? expires : headerText(headers, name);
}

/** The components that have the query. */
const QUERY_PARTS: ReadonlySet<string> = new Set(["@target-uri", "@request-target", "@query", "(request-target)"]);

const DIGESTS: Readonly<Record<string, string>> = { "sha-256": "sha256", "sha-512": "sha512" };

/**
 * Whether the covered components have a digest of the body. It is wrong if a digest of a known algorithm is another, or
 * none is known. A body without bytes needs none. The payload of a GET is its query.
 */
function coveredBody(
  names: readonly string[],
  { method, headers, content }: SignedRequest,
): "covered" | "none" | "wrong" {
  if (isInQuery(method)) return names.some((name) => QUERY_PARTS.has(name)) ? "covered" : "none";
  const covered = (["content-digest", "digest"] as const).filter((name) => names.includes(name));
  for (const name of covered) {
    const digests = [...(readDigests(name, headerText(headers, name) ?? "") ?? [])];
    const known = digests.filter(([algorithm]) => Object.hasOwn(DIGESTS, algorithm));
    const isRight = known.every(([algorithm, digest]) =>
      hash(DIGESTS[algorithm] as string, content.bytes, "buffer").equals(digest),
    );
    if (known.length === 0 || !isRight) return "wrong";
  }
  return covered.length > 0 || content.bytes.length === 0 ? "covered" : "none";
}
