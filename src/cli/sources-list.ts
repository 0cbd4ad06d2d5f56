import { readEnvironment } from "../config/env-file.ts";
import { remedyAt, SERVICE_FOLDER } from "../config/service.ts";
import { isoTime } from "../lib/iso-time.ts";
import { refusals } from "../operations/held.ts";
import type { OutputOf } from "../operations/operation.ts";
import { type ListContext, listed } from "../operations/sources.ts";
import type { ReceivedSecret } from "../webhook/intake/source-store.ts";
import { noteChange } from "./make-change.ts";
import { commandConfiguration, operateThere } from "./operate.ts";
import { printData, printJson, say } from "./output.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { withStoresIfAny } from "./stores.ts";
import { readStrays, sayStrays } from "./strays.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

const ADD_ONE = {
  folder: "set WEBHOOK_SECRET, or add one to authserve.yaml",
  service: `add one to ${SERVICE_FOLDER}/authserve.yaml`,
};

/** As many as a server tells commands on its machine. */
const SHOWN_STRAYS = 10;

interface ListOptions extends RemoteOptions {
  utc?: boolean;
  json?: boolean;
}

/**
 * Prints the sources with what they have received and refused. Secrets that handshakes brought are printed once: they
 * are forgotten afterwards.
 */
export async function runSourcesList({ utc, json, ...remote }: ListOptions): Promise<void> {
  const server = remoteServer(remote);
  if (server !== null) {
    print((await operateThere(server, listed, {})).items, [], { utc, json });
    const strays = json ? [] : (await operateThere(server, refusals, {})).items.filter(({ source }) => source === null);
    return sayStrays(strays.slice(0, SHOWN_STRAYS), timeFormat(utc, Date.now()));
  }
  const itemsIn = async (stores: ListContext["stores"]) =>
    (await listed.run({ ...commandConfiguration, stores }, {})).items;
  const isStored = await withStoresIfAny(readEnvironment(), async (stores) => {
    const { sources: store } = stores;
    const sources = await itemsIn(stores);
    const received = (await store.keptSecrets()).filter(({ source }) => sources.some(({ name }) => name === source));
    for (const name of new Set(received.map(({ source }) => source)))
      await noteChange(stores, "source.secret", { source: name });
    print(sources, received, { utc, json });
    if (received.length > 0) await store.forgetSecrets(received);
  });
  if (!isStored) print(await itemsIn(NOTHING_STORED), [], { utc, json });
  if (!json) sayStrays(readStrays(), timeFormat(utc, Date.now()));
}

/** Before the first start of a server. */
const NOTHING_STORED = { sources: { list: async () => [] }, now: Date.now };

type SourceItem = OutputOf<typeof listed>["items"][number];

function print(
  sources: readonly SourceItem[],
  received: readonly ReceivedSecret[],
  { utc, json }: { utc: boolean | undefined; json: boolean | undefined },
): void {
  if (json) printJson(sources.map((source) => jsonOf(source, received)));
  else if (sources.length === 0) say(`There are no sources: ${remedyAt(ADD_ONE)}.`);
  else {
    const format = timeFormat(utc, Date.now());
    printSources(sources, format);
    printReceived(received, format);
    for (const { found, remedy } of sources.flatMap(({ findings }) => findings)) say(`warning: ${found}: ${remedy}`);
  }
}

/** A source in JSON output. Its members and their order are stable. */
function jsonOf(source: SourceItem, all: readonly ReceivedSecret[]) {
  const { name, path, preset, secrets, received, refused, refusals, lastReceivedAt, lastSecret } = source;
  const own = all.filter((secret) => secret.source === name);
  const receivedSecrets = own.map(({ value, receivedAt, address }) => ({
    value,
    receivedAt: isoTime(receivedAt),
    address,
  }));
  return {
    ...{ name, path, preset, secrets, received, refused, refusals, lastReceivedAt, lastSecret },
    ...(receivedSecrets.length > 0 && { receivedSecrets }),
  };
}

function printSources(sources: readonly SourceItem[], format: (at: number) => string): void {
  printTable(
    [
      "NAME",
      { heading: "PATH", leastWidth: 12 },
      "PRESET",
      "RECEIVED",
      "REFUSED",
      "LAST",
      { heading: "SECRET", leastWidth: 8 },
      { heading: "WHY REFUSED", leastWidth: 12 },
    ],
    sources.map(({ name, path, preset, received, refused, refusals, lastReceivedAt, lastSecret }) => [
      name,
      path,
      preset ?? "-",
      String(received),
      String(refused),
      lastReceivedAt === null ? "-" : format(Date.parse(lastReceivedAt)),
      lastSecret ?? "-",
      refusalsText(refusals),
    ]),
  );
}

/** E.g. `12 no_signature, 1 timestamp_too_old`. */
function refusalsText(refusals: SourceItem["refusals"]): string {
  const texts = Object.entries(refusals).map(([reason, number]) => `${number} ${reason}`);
  return texts.join(", ") || "-";
}

/** Prints secrets as lines, which no terminal cuts off. */
function printReceived(received: readonly ReceivedSecret[], format: (at: number) => string): void {
  for (const { source, value, receivedAt, address } of received)
    printData(`${source} received, store it: ${value} (${format(receivedAt)}, from ${address})`);
  if (received.length === 0) return;
  say("Received secrets are shown once. Make one a secret of its source, and restart.");
  const bySource = Map.groupBy(received, ({ source }) => source);
  for (const [source, { length }] of bySource)
    if (length > 1)
      say(
        `warning: ${source} received ${length} secrets, and anybody can send one: use the one that the provider confirms.`,
      );
}
