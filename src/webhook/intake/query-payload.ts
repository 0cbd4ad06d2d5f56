import type { IncomingHttpHeaders } from "node:http";
import { isInQuery, type Source } from "../source.ts";
import { FORM } from "./content.ts";

/** The `Content-Type` of a delivery. A query is a form. */
export function contentTypeOf(method: string, headers: IncomingHttpHeaders): string {
  return isInQuery(method) ? FORM : (headers["content-type"] ?? "");
}

/** The query of a delivery without a body, but for the parameters that hold the secret. */
export function payloadOfQuery({ schemes }: Pick<Source, "schemes">, target = ""): Buffer {
  const at = target.indexOf("?");
  const query = at === -1 ? "" : target.slice(at + 1);
  const secrets = schemes.flatMap((scheme) => (scheme.type === "token" && "query" in scheme ? [scheme.query] : []));
  const isSecret = (field: string) => secrets.some((name) => new URLSearchParams(field).has(name));
  const fields = query.split("&").filter((field) => !isSecret(field));
  return Buffer.from(fields.join("&"), "latin1");
}
