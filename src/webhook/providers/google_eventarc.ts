import { hex, integer, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { GOOGLE_KEYS, GOOGLE_OPTIONS, googleToken } from "../signature/signing.ts";

const RETRIES = "https://cloud.google.com/eventarc/docs/retry-events";

export default provider({
  title: "Google Cloud Eventarc",
  docs: "https://cloud.google.com/eventarc/docs/cloudevents",
  schemes: googleToken(),
  keysUrl: GOOGLE_KEYS,
  options: GOOGLE_OPTIONS,
  covers: "none",
  id: [["header:ce-source", "header:ce-id"]],
  type: ["header:ce-type"],
  // The attributes are headers, and the content is of any type.
  contentTypes: ["*/*"],
  dedupe: {
    mode: "id",
    why: "The source and the id together name an event, and events with the same are repeats.",
    source: RETRIES,
  },
  facts: says(RETRIES, {
    repeats: "automatic",
    schedule: "after 10 seconds, then with growing pauses of at most 600 seconds",
    repeatsForSeconds: 86_400,
  }),
  evidence: { kind: "sdk", by: "google-auth-library@10.9.1" },
  sample: {
    type: "google.cloud.storage.object.v1.finalized",
    newId: () => String(integer(15)),
    headers: ({ id, type, now }) => ({
      "ce-id": id,
      "ce-source": "//storage.googleapis.com/projects/_/buckets/example-uploads",
      "ce-specversion": "1.0",
      "ce-subject": "objects/invoices/2026/0042.pdf",
      "ce-time": iso(now),
      "ce-type": type,
    }),
    content: {
      json: ({ now }) => ({
        kind: "storage#object",
        id: `example-uploads/invoices/2026/0042.pdf/${integer(15)}`,
        name: "invoices/2026/0042.pdf",
        bucket: "example-uploads",
        contentType: "application/pdf",
        size: "48213",
        storageClass: "STANDARD",
        timeCreated: iso(now),
        updated: iso(now),
        md5Hash: Buffer.from(hex(32), "hex").toString("base64"),
      }),
    },
  },
});
