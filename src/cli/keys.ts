import { listed, rotate } from "../operations/keys.ts";
import type { OutputOf } from "../operations/operation.ts";
import { requireKnownKey } from "./encrypt.ts";
import { operate, withPerformer } from "./operate.ts";
import { printJson, say } from "./output.ts";
import type { RemoteOptions } from "./remote.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

const NONE = "There are no signing keys: a server makes the first ones when an app needs them.";

/** Prints the keys that sign tokens for apps. */
export async function runKeysList({
  utc,
  json,
  ...remote
}: RemoteOptions & { utc?: boolean; json?: boolean }): Promise<void> {
  const { items } = await operate(listed, {}, remote);
  if (json) return printJson(items);
  if (items.length === 0) return say(NONE);
  const format = timeFormat(utc, Date.now());
  const time = (text: string | null) => (text === null ? "-" : format(Date.parse(text)));
  printTable(
    ["ID", "ALGORITHM", "STATE", "SIGNS FROM", "SIGNS UNTIL", "KEPT UNTIL"],
    items.map(({ id, algorithm, state, signsFrom, signsUntil, keptUntil }) => [
      id,
      algorithm,
      state,
      time(signsFrom),
      time(signsUntil),
      time(keptUntil),
    ]),
  );
  for (const { id, fault } of items) if (fault !== null) say(`warning: the key ${id} ${fault}`);
}

/** Makes the next key of each algorithm in use, and says from when it signs, and until when the old one stays. */
export async function runKeysRotate({
  json,
  atOnce = false,
  ...remote
}: RemoteOptions & { json?: boolean; atOnce?: boolean }): Promise<void> {
  await withPerformer(remote, async ({ perform, stores }) => {
    if (stores !== null) await requireKnownKey(stores);
    const rotated = await perform(rotate, { atOnce });
    if (json) printJson(rotated);
    else sayRotated(rotated);
  });
}

function sayRotated({ made, items }: OutputOf<typeof rotate>): void {
  if (items.length === 0) say(NONE);
  const isMade = ({ id }: { id: string }) => made.includes(id);
  for (const next of items.filter((item) => isMade(item) || item.state === "waits")) {
    const { algorithm, id, signsFrom } = next;
    if (isMade(next)) say(`The new ${algorithm} key ${id} signs from ${signsFrom} on.`);
    else say(`The ${algorithm} key ${id} waits already, and signs from ${signsFrom} on: no other one was made.`);
    const replaced = items.filter((item) => item.algorithm === algorithm && item.signsUntil === signsFrom);
    for (const { id: old, keptUntil } of replaced.filter(({ fault }) => fault === null))
      say(`The key ${old} is published until ${keptUntil}.`);
  }
}
