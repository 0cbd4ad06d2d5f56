import type { Scheme } from "./signature/schemes.ts";
import { hmacOfBody, standardWebhooks, timestampedPairs } from "./signature/signing.ts";
import type { Source } from "./source.ts";

const plain = (header: string) => hmacOfBody(header, { label: "sha256=", encodings: ["hex", "base64"] });

/** The schemes of the source `default`. A delivery is genuine if one of these headers has a valid signature. */
export const DEFAULT_SCHEMES: readonly Scheme[] = [
  plain("x-signature"),
  plain("x-hub-signature"),
  plain("x-hub-signature-256"),
  timestampedPairs("stripe-signature"),
  standardWebhooks("webhook"),
];

/** The name of the source that the environment defines. */
export const DEFAULT_SOURCE_NAME = "default";

/** The source that the environment defines. */
export function defaultSource(
  options: Pick<Source, "path" | "secrets" | "bodyLimitBytes"> & Partial<Pick<Source, "allowedAddresses">>,
): Source {
  return {
    name: DEFAULT_SOURCE_NAME,
    preset: null,
    schemes: DEFAULT_SCHEMES,
    id: [],
    type: [],
    dedupe: "bytes",
    contentTypes: ["application/json"],
    isEnvelope: true,
    addressMode: "enforce",
    ...options,
  };
}
