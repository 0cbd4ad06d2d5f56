import { readEnvironment } from "../config/env-file.ts";
import { remedyAt, SERVICE_FOLDER } from "../config/service.ts";
import { readSources } from "../config/sources.ts";
import { isoTime } from "../lib/iso-time.ts";
import { overviewOf, type SourceOverview } from "../webhook/intake/source-overview.ts";
import type { ReceivedSecret } from "../webhook/intake/source-store.ts";
import { rotationFindings } from "../webhook/secrets/rotation.ts";
import { noteChange } from "./make-change.ts";
import { printData, printJson, say } from "./output.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { withSourceStore } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

const ADD_ONE = {
  folder: "set WEBHOOK_SECRET, or add one to authserve.yaml",
  service: `add one to ${SERVICE_FOLDER}/authserve.yaml`,
};

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
    const { items } = await server.get<{ items: RemoteSource[] }>("sources");
    const sources = items.map(overviewIn);
    if (json) return printJson(sources.map((source) => jsonOf(source, [])));
    printSources(sources, timeFormat(utc, Date.now()));
    return sayFindings(items.flatMap(({ findings }) => findings));
  }
  const environment = readEnvironment();
  const configured = readSources(environment);
  await withSourceStore(environment, async (store, stores) => {
    const records = await store.list();
    const sources = overviewOf(configured, records);
    const received = (await store.keptSecrets()).filter(({ source }) => sources.some(({ name }) => name === source));
    for (const name of new Set(received.map(({ source }) => source)))
      if (stores) await noteChange(stores, "source.secret", { source: name });
    if (json) printJson(sources.map((source) => jsonOf(source, received)));
    else if (sources.length === 0) say(`There are no sources: ${remedyAt(ADD_ONE)}.`);
    else {
      const format = timeFormat(utc, Date.now());
      printSources(sources, format);
      printReceived(received, format);
      const byName = new Map(records.map((record) => [record.source, record]));
      sayFindings(configured.flatMap((source) => rotationFindings(source, byName.get(source.name), Date.now())));
    }
    if (received.length > 0) await store.forgetSecrets(received);
  });
}

interface RemoteSource extends SourceOverview {
  findings: Finding[];
}

/** What the command shows of a source in an answer. */
const overviewIn = ({
  name,
  path,
  preset,
  secrets,
  received,
  refused,
  refusals,
  lastReceivedAt,
  lastSecret,
}: SourceOverview): SourceOverview => ({
  ...{ name, path, preset, secrets, received, refused, refusals, lastReceivedAt, lastSecret },
});

function jsonOf(source: SourceOverview, received: readonly ReceivedSecret[]) {
  const own = received.filter((secret) => secret.source === source.name);
  const receivedSecrets = own.map(({ value, receivedAt, address }) => ({
    value,
    receivedAt: isoTime(receivedAt),
    address,
  }));
  return {
    ...source,
    lastReceivedAt: isoTime(source.lastReceivedAt),
    ...(receivedSecrets.length > 0 && { receivedSecrets }),
  };
}

function printSources(sources: readonly SourceOverview[], format: (at: number) => string): void {
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
      lastReceivedAt === null ? "-" : format(lastReceivedAt),
      lastSecret ?? "-",
      refusalsText(refusals),
    ]),
  );
}

/** E.g. `12 no_signature, 1 timestamp_too_old`. */
function refusalsText(refusals: SourceOverview["refusals"]): string {
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

interface Finding {
  found: string;
  remedy: string;
}

function sayFindings(findings: readonly Finding[]): void {
  for (const { found, remedy } of findings) say(`warning: ${found}: ${remedy}`);
}
