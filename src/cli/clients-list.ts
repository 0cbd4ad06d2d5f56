import type { Client } from "../auth/clients/client.ts";
import { endsOf } from "../auth/clients/preset.ts";
import { readEnvironment } from "../config/env-file.ts";
import { isoTime } from "../lib/iso-time.ts";
import { readClients } from "./configured.ts";
import { printJson, say } from "./output.ts";
import { readIfAny } from "./stores.ts";
import { printTable } from "./table.ts";

/** Prints the clients with what the store knows of their sessions. */
export async function runClientsList({ json }: { json?: boolean }): Promise<void> {
  const clients = readClients();
  const stored = await readIfAny(readEnvironment(), NOTHING_STORED, async ({ clients: store }) => ({
    open: await store.participations(),
    failed: await store.failedLogouts(),
  }));
  const items = clients.map((client) => itemOf(client, stored));
  if (json) printJson(items);
  else if (items.length === 0) say("There are no clients: add one to authserve.yaml, see authserve clients presets.");
  else print(items);
}

interface Stored {
  open: readonly { client: string }[];
  failed: readonly { client: string; failedAt: number; error: string | null }[];
}

/** Before the first start of a server. */
const NOTHING_STORED: Stored = { open: [], failed: [] };

type Item = ReturnType<typeof itemOf>;

/** A client in JSON output. Its members and their order are stable. */
function itemOf({ name, preset, redirects, logout: { backchannel } }: Client, { open, failed }: Stored) {
  const isOwn = ({ client }: { client: string }) => client === name;
  const failures = failed.filter(isOwn);
  const [last] = failures;
  return {
    ...{ name, preset, redirects, backchannel },
    ends: endsOf(backchannel),
    sessions: open.filter(isOwn).length,
    failedLogouts: failures.length,
    lastFailure: last === undefined ? null : { at: isoTime(last.failedAt), error: last.error },
  };
}

function print(items: readonly Item[]): void {
  printTable(
    ["NAME", "PRESET", "ENDS", "SESSIONS", "FAILED LOGOUTS", { heading: "REDIRECTS", leastWidth: 12 }],
    items.map(({ name, preset, ends, sessions, failedLogouts, redirects }) => [
      name,
      preset ?? "-",
      ends,
      String(sessions),
      String(failedLogouts),
      redirects.join(" "),
    ]),
  );
  for (const { name, lastFailure } of items)
    if (lastFailure !== null)
      say(`warning: ${name} could not be told of the end of a session: ${lastFailure.error ?? "unknown"}`);
}
