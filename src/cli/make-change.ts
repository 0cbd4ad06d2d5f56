import { userInfo } from "node:os";
import { makeAudited } from "../audit/change.ts";
import type { AuditAction, AuditEntry, WriteAudit } from "../audit/store.ts";
import type { Stores } from "../stores.ts";

type AuditStores = Pick<Stores, "audit" | "now">;

/** A change by a command. */
interface CommandChange<Result> {
  action: AuditAction;
  /** What is asked for, without data of payloads. */
  asked: object;
  /** A dry run changes nothing, and is not written. */
  isDryRun?: boolean | undefined;
  make(): Promise<Result>;
  /** What the audit has of the result. Null: nothing was changed. */
  outcome(result: Result): object | null;
}

/** Makes a change, and writes it to the audit with the user of the system that runs the command. */
export function makeChange<Result>(
  stores: AuditStores,
  { action, asked, isDryRun = false, make, outcome }: CommandChange<Result>,
): Promise<Result> {
  if (isDryRun) return make();
  return makeAudited(writeTo(stores), { ...byCommand(), action, detail: asked }, make, outcome);
}

/** Writes the only row of a change that is made next. */
export async function noteChange({ audit, now }: AuditStores, action: AuditAction, detail: object): Promise<void> {
  await audit.append(entryOf(now(), action, detail));
}

const writeTo =
  ({ audit, now }: AuditStores): WriteAudit =>
  async ({ detail, ...change }) =>
    (await audit.append({ ...change, at: now(), detail: JSON.stringify(detail) })).number;

/** A row of a change by a command. */
export const entryOf = (at: number, action: AuditAction, detail: object): AuditEntry => ({
  ...byCommand(),
  at,
  action,
  detail: JSON.stringify(detail),
});

const byCommand = () => ({ who: `command:${userName()}`, origin: "machine" });

/** The name of the user, or its number if the system does not know it, as in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
