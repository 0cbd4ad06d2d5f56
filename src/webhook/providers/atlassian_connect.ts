import { hash } from "node:crypto";
import { queryOf } from "../../lib/request-target.ts";
import { provider, says } from "../provider.ts";
import type { RequestLine } from "../signature/schemes.ts";

export default provider({
  title: "Atlassian Connect",
  docs: "https://developer.atlassian.com/cloud/jira/platform/understanding-jwt-for-connect-apps/",
  schemes: {
    type: "jwt",
    header: "authorization",
    label: "JWT ",
    algorithms: ["HS256"],
    requestClaims: { qsh: (request) => queryTextsOf(request).map((text) => hash("sha256", text)) },
    needsExpiry: true,
  },
  covers: "none",
  id: ["header:x-atlassian-webhook-identifier"],
  type: ["body:webhookEvent", "body:event"],
  facts: says("https://community.developer.atlassian.com/t/new-jira-cloud-webhook-retry-policy/30554", {
    repeats: "automatic",
    schedule: "after a time-out, 408, 409, 425, 429 and 5xx",
    repeatsForSeconds: 1800,
  }),
  evidence: { kind: "sdk", by: "atlassian-jwt@2.0.3" },
});

/**
 * What Atlassian's `qsh` is the digest of: method, path below the base URL and sorted query
 * (https://developer.atlassian.com/cloud/bitbucket/query-string-hash/). The base URL may have a path, which is not known: a
 * source has one path only, so any beginning of it may be left out. The first text has the whole path.
 */
export function queryTextsOf({ method, target }: Pick<RequestLine, "method" | "target">): string[] {
  const [path = ""] = target.split("?");
  const names = path.split("/").slice(1);
  const paths = names.map((_, from) => `/${names.slice(from).join("/")}`);
  const query = canonicalQuery(queryOf(target));
  return [...new Set([...paths, "/"])].map((one) => {
    const canonical = one.length > 1 ? one.replace(/\/$/, "") : one;
    return `${method.toUpperCase()}&${canonical.replaceAll("&", "%26")}&${query}`;
  });
}

/** The parameters but for `jwt`, sorted by name, each with its values sorted and joined by commas. */
function canonicalQuery(query: URLSearchParams): string {
  const byName = [...Map.groupBy(query, ([name]) => name)].filter(([name]) => name !== "jwt");
  return byName
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, pairs]) => {
      const values = pairs.map(([, value]) => value).sort();
      return `${encode(name)}=${values.map(encode).join(",")}`;
    })
    .join("&");
}

/** Percent-encodes all but the unreserved characters (RFC 3986, 2.3). */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
