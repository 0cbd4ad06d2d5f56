import * as v from "valibot";
import { listChanges } from "../audit/change.ts";
import { AUDIT_ACTIONS, type AuditAction, type AuditStore } from "../audit/store.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { isoTime } from "../lib/iso-time.ts";
import { type AdminGuard, queryEndpoint } from "./endpoint.ts";
import { count, cursor, limit, timestamp } from "./fields.ts";

export interface AuditParts extends AdminGuard {
  readAudit: Pick<AuditStore, "list" | "after">;
}

const AuditQuery = v.object({
  all: v.optional(
    v.pipe(
      v.picklist(["true", "false"]),
      v.description("Whether to list the rows that say what begins, too. With them the chain of hashes is whole."),
    ),
    "false",
  ),
  limit: v.optional(limit, "50"),
  cursor: v.optional(
    v.pipe(v.string(), v.regex(/^[0-9]{1,15}$/, "is not a cursor of this request"), v.transform(Number)),
  ),
});

export const AuditAnswer = v.object({
  items: v.array(
    v.object({
      number: count,
      at: timestamp,
      who: v.pipe(
        v.string(),
        v.description("`session:USER`, `token:NAME`, `command:USER` of the system, or `server`."),
      ),
      from: v.pipe(v.string(), v.description("The address of the client, or `machine`.")),
      action: v.picklist(Object.keys(AUDIT_ACTIONS) as AuditAction[]),
      detail: v.record(v.string(), v.unknown()),
      hash: v.string(),
    }),
  ),
  cursor,
});

/** What people and programs have changed. */
export function auditEndpoints(parts: AuditParts): Endpoint[] {
  return [
    queryEndpoint(parts, {
      path: "/admin/api/audit",
      scope: "session",
      summary: "Lists changes by people and programs, newest first.",
      query: AuditQuery,
      response: AuditAnswer,
      async read({ all, limit: most, cursor: before }) {
        const rows = await listChanges(parts.readAudit, { before, limit: most, isWhole: all === "true" });
        const items = rows.map(({ at, origin, detail, ...row }) => ({
          ...row,
          at: isoTime(at),
          from: origin,
          detail: JSON.parse(detail) as Record<string, unknown>,
        }));
        return { items, cursor: rows.length === most ? String(rows.at(-1)?.number) : null };
      },
    }),
  ];
}
