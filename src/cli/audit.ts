import { verifyAudit } from "../audit/chain.ts";
import { listChanges } from "../audit/change.ts";
import type { AuditRow } from "../audit/store.ts";
import { OperatorError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { wholeNumber } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

const MAX_LIMIT = 10_000;

interface AuditListOptions {
  limit?: string;
  /** Every row of the chain, not one for each change. */
  all?: boolean;
  utc?: boolean;
  json?: boolean;
}

/** Prints what people and programs have changed, newest first. */
export function runAuditList({ limit = "50", all, utc, json }: AuditListOptions) {
  const most = wholeNumber("--limit", limit, MAX_LIMIT);
  return withStores(async ({ audit, now }) => {
    const rows = await listChanges(audit, { limit: most, isWhole: all });
    if (json) return printJson(rows.map(rowJson));
    if (rows.length === 0) return say("Nothing was changed yet.");
    const time = timeFormat(utc, now());
    printTable(
      ["NUMBER", "TIME", "WHO", "FROM", "ACTION", { heading: "DETAIL", leastWidth: 12 }],
      rows.map(({ number, at, who, origin, action, detail }) => [
        String(number),
        time(at),
        who,
        origin,
        action,
        detail,
      ]),
    );
  });
}

/** A row in JSON output. Its members and their order are stable. */
const rowJson = ({ number, at, who, origin, action, detail, hash }: AuditRow) => ({
  number,
  at: isoTime(at),
  who,
  from: origin,
  action,
  detail: JSON.parse(detail) as unknown,
  hash,
});

/** Checks the chain of the audit. The exit code is 1 if a row was changed, removed, moved or inserted. */
export function runAuditVerify({ known, json }: { known?: string; json?: boolean }): Promise<void> {
  const link = known === undefined ? null : parseLink(known);
  return withStores(async ({ audit, now }) => {
    const verdict = await verifyAudit(audit, now(), link);
    const { rows, newest, faults } = verdict;
    if (faults.length > 0) process.exitCode = 1;
    if (json) return printJson(verdict);
    for (const { number, found } of faults) say(`row ${number} ${found}`);
    const what = counted(rows, "row");
    if (faults.length === 0) say(`${what} of the audit are whole. The newest is ${linkText(newest)}`);
    else say(`The audit of ${what} is not whole: ${counted(faults.length, "fault")}.`);
  });
}

type Link = Awaited<ReturnType<typeof verifyAudit>>["newest"];

const linkText = ({ number, hash, at }: Link) => `${number}:${hash}${at === null ? "" : `:${isoTime(at)}`}`;

function parseLink(text: string): Link {
  const [, number, hash, time] = /^([0-9]{1,15}):([0-9a-f]{64})(?::([0-9TZ:.+-]+))?$/.exec(text) ?? [];
  const at = time === undefined ? null : Date.parse(time);
  if (number !== undefined && hash !== undefined && !Number.isNaN(at)) return { number: Number(number), hash, at };
  throw new OperatorError({
    found: "--known is not usable",
    remedy: "give NUMBER:HASH or NUMBER:HASH:TIME as an earlier check printed it, or the log",
  });
}
