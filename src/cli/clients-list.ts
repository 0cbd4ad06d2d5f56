import { listed, retry } from "../operations/clients.ts";
import { operate } from "./operate.ts";
import { counted, printJson, say } from "./output.ts";
import type { RemoteOptions } from "./remote.ts";
import { printTable } from "./table.ts";

/** Prints the apps with what is known of their sessions. */
export async function runClientsList({ json, ...remote }: RemoteOptions & { json?: boolean }): Promise<void> {
  const { items } = await operate(listed, {}, remote);
  if (json) return printJson(items);
  if (items.length === 0) return say("There are no clients: add one to authserve.yaml, see authserve clients presets.");
  printTable(
    ["NAME", "PRESET", "ENDS", "OPEN", "WAITING", "FAILED", { heading: "REDIRECTS", leastWidth: 12 }],
    items.map(({ name, preset, ends, open, waiting, failed, redirects }) => [
      name,
      preset ?? "-",
      ends,
      open ? "yes" : "no",
      String(waiting),
      String(failed),
      redirects.join(" "),
    ]),
  );
  for (const { name, error } of items)
    if (error !== null) say(`warning: ${name} could not be told of the end of a session: ${error}`);
}

/** Lets ends of sessions be told again that could not be told. A running server does it within a second. */
export async function runClientsRetry(
  name: string | undefined,
  { json, ...remote }: RemoteOptions & { json?: boolean },
): Promise<void> {
  const { retried } = await operate(retry, name === undefined ? {} : { name }, remote);
  if (json) printJson({ retried });
  else say(`${counted(retried, "end")} of sessions will be told again.`);
}
