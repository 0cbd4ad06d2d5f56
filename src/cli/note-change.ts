import { userInfo } from "node:os";
import type { AuditAction } from "../audit/store.ts";
import type { Stores } from "../stores.ts";

/** Writes a change by a command to the audit, with the user of the system that runs it. */
export async function noteChange(
  { audit, now }: Pick<Stores, "audit" | "now">,
  action: AuditAction,
  detail: object,
): Promise<void> {
  const entry = { at: now(), who: `command:${userName()}`, origin: "machine", action };
  await audit.append({ ...entry, detail: JSON.stringify(detail) });
}

/** The name of the user, or its number if the system does not know it, as in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
