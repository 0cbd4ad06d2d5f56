import * as v from "valibot";
import { isoTime } from "../lib/iso-time.ts";
import { count, cursor, timestamp } from "./fields.ts";
import { reading, type ServerContext } from "./operation.ts";

const DenialItem = v.object({
  at: timestamp,
  method: v.string(),
  host: v.nullable(v.string()),
  path: v.pipe(v.nullable(v.string()), v.description("Without the query, at most 200 characters.")),
  address: v.string(),
  entry: v.pipe(v.nullable(count), v.description("The entry of `access` that decided, from 1. Null: none matched.")),
  token: v.pipe(v.nullable(v.string()), v.description("The name of the genuine token that it had.")),
  code: v.pipe(v.nullable(v.string()), v.description("Why: an error code.")),
});

export const denials = reading({
  path: "access/denials",
  scope: "events:read",
  summary: "Lists the newest 100 requests that forward-auth of this server has denied since its start.",
  input: v.object({}),
  output: v.object({ items: v.array(DenialItem), cursor }),
  async run({ denials }: ServerContext) {
    return { items: denials.list().map(({ at, ...denial }) => ({ ...denial, at: isoTime(at) })), cursor: null };
  },
});
