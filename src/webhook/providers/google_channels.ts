import { randomUUID } from "node:crypto";
import { base62, integer } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";

const PUSH = "https://developers.google.com/workspace/drive/api/guides/push";

export default provider({
  title: "Google notification channels (Drive, Calendar, Directory)",
  docs: PUSH,
  // The token that the watch request sets.
  schemes: { type: "token", header: "x-goog-channel-token" },
  covers: "none",
  id: [["header:x-goog-channel-id", "header:x-goog-message-number"]],
  // `sync` for the first message of a channel.
  type: ["header:x-goog-resource-state"],
  // The body is empty, but announced as JSON. The Directory API sends one.
  contentTypes: ["*/*"],
  dedupe: {
    mode: "id",
    why: "Notifications are empty. The channel and the number of the message tell them apart.",
    source: PUSH,
  },
  facts: says(PUSH, {
    sameBytes: true,
    batches: false,
    answer: "102, 200, 201, 202 or 204",
    repeats: "automatic",
    schedule: "with growing pauses, after 500, 502, 503 and 504 only",
  }),
  sample: {
    type: "update",
    newId: () => String(integer(5)),
    headers: ({ id, type, now }) => ({
      "user-agent": "APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)",
      "x-goog-channel-id": randomUUID(),
      "x-goog-channel-expiration": new Date(now + 86_400_000).toUTCString(),
      "x-goog-message-number": id,
      "x-goog-resource-id": base62(27),
      "x-goog-resource-state": type,
      "x-goog-resource-uri": "https://www.googleapis.com/drive/v3/files/example",
      "x-goog-changed": "content",
    }),
    content: { isEmpty: true },
  },
});
