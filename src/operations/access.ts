import * as v from "valibot";
import type { Endpoint } from "../http/endpoint.ts";
import { type AdminGuard, readEndpoint } from "./endpoint.ts";
import { count, cursor, timestamp } from "./fields.ts";

export interface AccessParts extends AdminGuard {
  readDenials: () => v.InferOutput<typeof DenialItem>[];
}

export const DenialItem = v.object({
  at: timestamp,
  method: v.string(),
  host: v.nullable(v.string()),
  path: v.pipe(v.nullable(v.string()), v.description("Without the query, at most 200 characters.")),
  address: v.string(),
  entry: v.pipe(v.nullable(count), v.description("The entry of `access` that decided, from 1. Null: none matched.")),
  token: v.pipe(v.nullable(v.string()), v.description("The name of the genuine token that it had.")),
  code: v.pipe(v.nullable(v.string()), v.description("Why: an error code.")),
});

const DenialsAnswer = v.object({ items: v.array(DenialItem), cursor });

/** What forward-auth has denied. */
export function accessEndpoints(parts: AccessParts): Endpoint[] {
  return [
    readEndpoint(parts, {
      path: "/admin/api/access/denials",
      scope: "events:read",
      summary: "Lists the newest 100 requests that forward-auth of this server has denied since its start.",
      response: DenialsAnswer,
      read: async () => ({ items: parts.readDenials(), cursor: null }),
    }),
  ];
}
