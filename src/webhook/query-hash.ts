import { queryOf, type SignedRequest } from "./signed-text.ts";

/**
 * What Atlassian's `qsh` is the digest of: method, path below the base URL and sorted query
 * (https://developer.atlassian.com/cloud/bitbucket/query-string-hash/). The base URL may have a path, which is not known: a
 * source has one path only, so any beginning of it may be left out. The first text has the whole path.
 */
export function queryTextsOf({ method, target }: Pick<SignedRequest, "method" | "target">): string[] {
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
