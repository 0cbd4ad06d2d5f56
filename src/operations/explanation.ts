import * as v from "valibot";
import { count, RouteVerdict } from "./fields.ts";

/** Which checks a delivery passes, and what the server would answer. */
export const ExplanationAnswer = v.object({
  source: v.string(),
  genuine: v.pipe(v.boolean(), v.description("Whether signature and time are right.")),
  reason: v.nullable(v.string()),
  secret: v.nullable(v.string()),
  eventId: v.nullable(v.string()),
  type: v.nullable(v.string()),
  checks: v.array(v.object({ name: v.string(), ok: v.boolean(), detail: v.string() })),
  answer: v.object({ status: count, code: v.nullable(v.string()), reason: v.nullable(v.string()) }),
  handshake: v.nullable(v.string()),
  routes: v.array(RouteVerdict),
  verify: v.pipe(v.nullable(v.string()), v.description("A `verify` block that would accept its signature.")),
});
