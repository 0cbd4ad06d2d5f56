import { verifyAudit } from "../audit/chain.ts";
import type { AuditRow } from "../audit/store.ts";
import { OperatorError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { ends, listed } from "../operations/audit.ts";
import { operateThere, readItems, withPerformer } from "./operate.ts";
import { wholeNumber } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

const MAX_LIMIT = 10_000;

interface AuditListOptions extends RemoteOptions {
  limit?: string;
  /** Every row of the chain, not one for each change. */
  all?: boolean;
  utc?: boolean;
  json?: boolean;
}

/** Prints what people and programs have changed, newest first. */
export function runAuditList({ limit = "50", all = false, utc, json, ...remote }: AuditListOptions): Promise<void> {
  const most = wholeNumber("--limit", limit, MAX_LIMIT);
  return withPerformer(remote, async ({ perform }) => {
    const rows = await readItems((page) => perform(listed, { all: all ? "true" : "false", ...page }), most);
    if (json) return printJson(rows);
    if (rows.length === 0) return say("Nothing was changed yet.");
    const time = timeFormat(utc, Date.now());
    printTable(
      ["NUMBER", "TIME", "WHO", "FROM", "ACTION", { heading: "DETAIL", leastWidth: 12 }],
      rows.map(({ number, at, who, from, action, detail }) => [
        String(number),
        time(Date.parse(at)),
        ...[who, from, action],
        JSON.stringify(detail),
      ]),
    );
  });
}

/** Checks the chain of the audit. The exit code is 1 if a row was changed, removed, moved or inserted. */
export function runAuditVerify({ known, json, ...remote }: VerifyOptions): Promise<void> {
  const link = known === undefined ? null : parseLink(known);
  async function verify(audit: VerifiedAudit): Promise<void> {
    const verdict = await verifyAudit(audit, Date.now(), link);
    if (verdict.faults.length > 0) process.exitCode = 1;
    if (json) printJson(verdict);
    else sayVerdict(verdict);
  }
  const server = remoteServer(remote);
  return server === null ? withStores(({ audit }) => verify(audit)) : verify(auditThere(server));
}

interface VerifyOptions extends RemoteOptions {
  known?: string;
  json?: boolean;
}

type Verdict = Awaited<ReturnType<typeof verifyAudit>>;
type VerifiedAudit = Parameters<typeof verifyAudit>[0];

/** The audit of a server elsewhere. Its API lists the newest rows first, and they are read once. */
function auditThere(server: RemoteServer): VerifiedAudit {
  let rows: Promise<AuditRow[]> | undefined;
  async function readRows(): Promise<AuditRow[]> {
    const items = await readItems((page) => operateThere(server, listed, { all: "true", ...page }));
    // The hash is of the detail as JSON.stringify writes it.
    return items
      .map(({ at, from, detail, ...row }) => ({
        ...{ ...row, at: Date.parse(at), origin: from, detail: JSON.stringify(detail) },
      }))
      .reverse();
  }
  return {
    async ends() {
      const { newest, removed } = await operateThere(server, ends, {});
      return { newest, removed: { ...removed, at: removed.at === null ? null : Date.parse(removed.at) } };
    },
    async after(number, limit) {
      rows ??= readRows();
      return (await rows).filter((row) => row.number > number).slice(0, limit);
    },
  };
}

function sayVerdict({ rows, newest, faults }: Verdict): void {
  for (const { number, found } of faults) say(`row ${number} ${found}`);
  const what = counted(rows, "row");
  if (faults.length === 0) say(`${what} of the audit are whole. The newest is ${linkText(newest)}`);
  else say(`The audit of ${what} is not whole: ${counted(faults.length, "fault")}.`);
}

type Link = Verdict["newest"];

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
