import { hash, randomUUID } from "node:crypto";
import { base62, integer } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

const DOCS = "https://fal.ai/docs/documentation/model-apis/inference/webhooks";

export default provider({
  title: "fal",
  docs: DOCS,
  schemes: keySignature("ed25519", "x-fal-webhook-signature", {
    encodings: ["hex"],
    timestamp: { header: "x-fal-webhook-timestamp" },
    signed: "{header:x-fal-webhook-request-id}\n{header:x-fal-webhook-user-id}\n{timestamp}\n{own:digest}",
    parts: { digest: { read: ({ content }) => Buffer.from(hash("sha256", content.bytes)), covers: { body: true } } },
  }),
  keysUrl: "https://rest.fal.ai/.well-known/jwks.json",
  id: ["header:x-fal-webhook-request-id"],
  type: ["body:status"],
  facts: says(DOCS, {
    batches: false,
    answer: "2xx; a redirect is final",
    answerSeconds: 15,
    repeats: "automatic",
    schedule: "with growing pauses until the result expires, at most 31 times",
    repeatsForSeconds: 3600,
  }),
  evidence: { kind: "sdk", by: "libsodium-wrappers@0.8.4" },
  sample: {
    type: "OK",
    newId: randomUUID,
    headers: ({ id }) => ({ "x-fal-webhook-request-id": id, "x-fal-webhook-user-id": `github|${integer(7)}` }),
    content: {
      json: ({ id, type }) => ({
        request_id: id,
        gateway_request_id: id,
        status: type,
        error: null,
        payload: {
          images: [
            {
              url: `https://v3.fal.media/files/lion/${base62(21)}.jpeg`,
              content_type: "image/jpeg",
              width: 1024,
              height: 1024,
            },
          ],
          prompt: "a dog on a beach",
          seed: integer(15),
          has_nsfw_concepts: [false],
          timings: { inference: 2.107 },
        },
      }),
    },
  },
});
