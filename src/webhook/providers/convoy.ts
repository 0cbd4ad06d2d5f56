import { provider, says } from "../provider.ts";
import { hmacOfBody, timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "Convoy",
  docs: "https://getconvoy.io/docs/product-manual/signatures",
  // Each project chooses the hash, the encoding, and whether a timestamp is signed.
  schemes: (["sha256", "sha512"] as const).flatMap((algorithm) => [
    hmacOfBody("x-convoy-signature", { algorithm, encodings: ["hex", "base64"] }),
    timestampedPairs("x-convoy-signature", {
      algorithm,
      encodings: ["hex", "base64"],
      signed: "{timestamp},{body}",
    }),
  ]),
  id: ["header:x-convoy-idempotency-key", "header:x-convoy-eventdelivery-id"],
  dedupe: {
    mode: "id",
    why: "The sender chooses the body and the key, which a repeat keeps.",
    source: "https://github.com/frain-dev/convoy/blob/2b60cc652e1d4babc1857280d5911817960e83e7/net/dispatcher.go",
  },
  facts: says("https://github.com/frain-dev/convoy/blob/2b60cc652e1d4babc1857280d5911817960e83e7/datastore/models.go", {
    repeats: "automatic",
    schedule: "as the project sets it: 10 times, if it sets nothing",
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/frain-dev/convoy/blob/2b60cc652e1d4babc1857280d5911817960e83e7/pkg/signature/signature_test.go",
  },
});
