import { randomUUID } from "node:crypto";
import type { Content } from "../content/content.ts";
import { hasOnly } from "../provider/handshake.ts";
import { iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

// E.g. `secret_` and 43 letters and digits.
const TOKEN = /^[A-Za-z0-9_-]{16,256}$/;

/** The token if a body has nothing else, else an empty text. */
function tokenIn(content: Content): string {
  const token = hasOnly(content, "verification_token") ? content.member("verification_token") : undefined;
  return typeof token === "string" ? token : "";
}

export default provider({
  title: "Notion",
  docs: "https://developers.notion.com/reference/webhooks",
  schemes: hmacOfBody("x-notion-signature", { label: "sha256=" }),
  // Its first POST is `{"verification_token": "secret_…"}` without a signature. The token is the secret:
  // https://developers.notion.com/reference/webhooks
  handshake: {
    kind: "notion",
    validation: {
      body: { type: "application/json", isRight: (content) => TOKEN.test(tokenIn(content)) },
      secret: (_request, content) => (content ? tokenIn(content) : ""),
    },
  },
  id: ["body:id"],
  type: ["body:type"],
  facts: says(
    "https://github.com/api-evangelist/notion/blob/d4625524bfa9ba2db29663c6b9c7e6d1540bf093/asyncapi/notion-webhooks-asyncapi.yml",
    {
      repeatChanges: ["body"],
      answer: "any 2xx",
      repeats: "automatic",
      schedule: "8 times over 24 hours",
      repeatsForSeconds: 86_400,
    },
  ),
  evidence: { kind: "sdk", by: "@notionhq/client@5.26.0" },
  sample: {
    type: "page.content_updated",
    newId: randomUUID,
    content: {
      json: ({ id, type, now }) => ({
        id,
        timestamp: iso(now),
        workspace_id: "b3e80d52-7c14-49fa-a6d3-05f1c92e8b47",
        workspace_name: "Acme",
        subscription_id: "29dc7f61-0b85-4e3a-9f72-c84e1da6035b",
        integration_id: "7a4f1e93-d62b-48c0-b5e9-3f80c7216ad4",
        authors: [{ id: "e05c9b38-41d7-4fa2-8e6b-92d37a0f1c5e", type: "person" }],
        attempt_number: 1,
        api_version: "2025-09-03",
        entity: { id: randomUUID(), type: "page" },
        type,
        data: {
          updated_blocks: [{ id: randomUUID(), type: "block" }],
          parent: { id: "d8176e4c-a350-4b9d-bf21-60c5e93a7f08", type: "page" },
        },
      }),
    },
  },
});
