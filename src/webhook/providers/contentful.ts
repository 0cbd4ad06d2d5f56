import querystring from "node:querystring";
import { base62, hex, integer, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { headerText, type OwnPart } from "../signature/signed-text.ts";
import { timestamped } from "../signature/signing.ts";

const LISTED = "x-contentful-signed-headers";
const TIMESTAMP = "x-contentful-timestamp";

/** Path and query, of which the query is percent-encoded twice (@contentful/node-apps-toolkit@3.16.1). */
const PATH: OwnPart = {
  read: ({ target }) => {
    const [path = "", query = ""] = target.split("?");
    return Buffer.from(encodeURI(query === "" ? path : `${path}?${querystring.escape(query)}`));
  },
  readsAddress: true,
};

/**
 * The headers that one of them lists, sorted, as `name:value` joined by semicolons. The list and the time must be among
 * them.
 */
const HEADERS: OwnPart = {
  read: ({ headers }) => {
    const names = [...new Set(headerText(headers, LISTED)?.toLowerCase().split(","))].sort();
    if (!names.includes(LISTED) || !names.includes(TIMESTAMP)) return null;
    const fields = names.flatMap((name) => {
      const value = headerText(headers, name);
      return value === undefined ? [] : [`${name}:${value}`];
    });
    return Buffer.from(fields.join(";"));
  },
  covers: { headers: [LISTED, TIMESTAMP] },
  adds: (headers) => ({ headers: { [LISTED]: [...new Set([...Object.keys(headers), LISTED])].sort().join(",") } }),
};

export default provider({
  title: "Contentful",
  docs: "https://www.contentful.com/developers/docs/webhooks/request-verification/",
  schemes: timestamped(
    "x-contentful-signature",
    { header: TIMESTAMP, unit: "ms" },
    "{method}\n{own:path}\n{own:headers}\n{body}",
    { parts: { path: PATH, headers: HEADERS } },
  ),
  id: ["header:x-contentful-idempotency-key"],
  type: ["header:x-contentful-topic"],
  dedupe: {
    mode: "id",
    why: "A webhook may fire twice for one action. Both deliveries have the same key.",
    source: "https://www.contentful.com/developers/changelog/idempotency-key-headers-for-webhook-requests/",
  },
  contentTypes: ["application/vnd.contentful.management.v1+json", "application/json"],
  facts: says("https://www.contentful.com/developers/docs/webhooks/retry-policy/", {
    repeats: "automatic",
    schedule: "2 times, every 30 seconds; up to 99 times in about 24 hours if the space is set so",
    repeatsForSeconds: 60,
  }),
  evidence: { kind: "sdk", by: "@contentful/node-apps-toolkit@3.16.1" },
  sample: {
    type: "ContentManagement.Entry.publish",
    newId: () => hex(64),
    headers: ({ id, type, now }) => ({
      "x-contentful-event-datetime": iso(now),
      "x-contentful-idempotency-key": id,
      "x-contentful-topic": type,
      "x-contentful-webhook-name": "orders",
      "x-contentful-webhook-request-attempt": "1",
    }),
    content: {
      json: ({ now }) => {
        const link = (linkType: string, id: string) => ({ sys: { type: "Link", linkType, id } });
        return {
          metadata: { tags: [], concepts: [] },
          fields: { title: { "en-US": "New in autumn" } },
          sys: {
            type: "Entry",
            id: base62(22),
            space: link("Space", "acmetestspac"),
            environment: link("Environment", "master"),
            contentType: link("ContentType", "article"),
            revision: integer(1),
            createdAt: iso(now - 60_000),
            updatedAt: iso(now),
          },
        };
      },
    },
  },
});
