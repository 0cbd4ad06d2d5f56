import * as v from "valibot";
import { listChanges } from "../audit/change.ts";
import { AUDIT_ACTIONS, type AuditAction } from "../audit/store.ts";
import { isoTime } from "../lib/iso-time.ts";
import { count, cursor, limit, timestamp } from "./fields.ts";
import { reading } from "./operation.ts";

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

const AuditAnswer = v.object({
  items: v.array(
    v.object({
      number: count,
      at: timestamp,
      who: v.pipe(
        v.string(),
        v.description("`session:USER`, `token:NAME`, `invitation:PERSON`, `command:USER` of the system, or `server`."),
      ),
      from: v.pipe(v.string(), v.description("The address of the client, or `machine`.")),
      action: v.picklist(Object.keys(AUDIT_ACTIONS) as AuditAction[]),
      detail: v.record(v.string(), v.unknown()),
      hash: v.string(),
    }),
  ),
  cursor,
});

export const listed = reading({
  path: "audit",
  scope: "manage",
  summary: "Lists changes by people and programs, newest first.",
  input: AuditQuery,
  output: AuditAnswer,
  async run({ stores: { audit } }, { all, limit: most, cursor: before }) {
    const rows = await listChanges(audit, { before, limit: most, isWhole: all === "true" });
    const items = rows.map(({ number, at, who, origin, action, detail, hash }) => ({
      ...{ number, at: isoTime(at), who, from: origin, action },
      detail: JSON.parse(detail) as Record<string, unknown>,
      hash,
    }));
    return { items, cursor: rows.length === most ? String(rows.at(-1)?.number) : null };
  },
});

const link = v.object({ number: count, hash: v.string() });

export const ends = reading({
  path: "audit/ends",
  scope: "manage",
  summary: "Shows the newest row of the audit, and the newest of those that were removed for their age.",
  input: v.object({}),
  output: v.object({
    newest: link,
    removed: v.object({
      ...link.entries,
      at: v.pipe(v.nullable(timestamp), v.description("Null if it was not noted.")),
    }),
  }),
  async run({ stores: { audit } }) {
    const { newest, removed } = await audit.ends();
    return { newest, removed: { ...removed, at: isoTime(removed.at) } };
  },
});
