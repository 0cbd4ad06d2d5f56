import { isUtf8 } from "node:buffer";
import { readEnvironment } from "../config/env-file.ts";
import { type Environment, readSettings } from "../config/settings.ts";
import { readSources } from "../config/sources.ts";
import { OperatorError } from "../errors.ts";
import { canonicalAddress } from "../http/proxies.ts";
import { isIn } from "../lib/address-range.ts";
import { isoTime } from "../lib/iso-time.ts";
import { printable, printableLines } from "../lib/printable.ts";
import { createLog } from "../log.ts";
import { type DeliveryExplanation, explainDelivery } from "../serve/explain/delivery.ts";
import type { RehearsalOptions } from "../serve/explain/rehearsal.ts";
import { type AddressList, addressesInFile, openAddressCopies, rangesOf } from "../webhook/addresses/address-lists.ts";
import { parseRawRequest, type RawRequest, rawRequestOf, type SentTo, sentToOf } from "../webhook/held/raw-request.ts";
import { createRetirement } from "../webhook/secrets/retirement.ts";
import type { Source } from "../webhook/source.ts";
import { readRoutes } from "./configured.ts";
import { readHeld } from "./events-held-show.ts";
import { findSource } from "./find-source.ts";
import { addressOption, parseTime } from "./option-values.ts";
import { printJson, say } from "./output.ts";
import { readStdinBytes } from "./prompt.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { readIfAny } from "./stores.ts";
import { readStrays, sayStrays } from "./strays.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

interface ExplainOptions extends RemoteOptions {
  at?: string;
  url?: string;
  address?: string;
  held?: string;
  json?: boolean;
}

/** A request to explain, and what is known of its arrival. */
interface Captured extends Pick<RehearsalOptions, "now" | "address" | "sentTo"> {
  source: Source;
  raw: RawRequest;
}

/**
 * Explains a captured delivery: that on standard input, or a held one. Nothing is stored. The exit code is 1 unless the
 * server would accept it.
 */
export async function runSourcesExplain(name: string | undefined, options: ExplainOptions): Promise<void> {
  const server = remoteServer(options);
  const explanation = await (server === null ? explainHere(name, options) : explainThere(server, name, options));
  if (options.json) printJson(explanation);
  else print(explanation);
  if (!options.json && server === null) sayStrays(readStrays(), timeFormat(undefined, Date.now()));
  if (explanation.answer.status >= 300) process.exitCode = 1;
}

async function explainHere(name: string | undefined, options: ExplainOptions): Promise<DeliveryExplanation> {
  const environment = readEnvironment();
  const sources = readSources(environment);
  const captured =
    options.held === undefined ? await given(sources, name, options) : await held(sources, name, options.held, options);
  const { source, raw, ...arrival } = captured;
  const { TRUSTED_PROXIES, TLS_CERT_FILE, DATA_DIR } = readSettings(environment, SETTINGS);
  return explainDelivery(source, raw, {
    ...arrival,
    routes: readRoutes(environment),
    trustedProxies: TRUSTED_PROXIES,
    isEncrypted: TLS_CERT_FILE !== undefined,
    addressLists: listsIn(DATA_DIR),
    acceptsSecret: acceptanceOf(source, environment, captured.now),
  });
}

/** Asks a server elsewhere, which takes requests whose bytes are text. */
async function explainThere(
  server: RemoteServer,
  source: string | undefined,
  { at, url, address, held: id }: ExplainOptions,
): Promise<DeliveryExplanation> {
  if (id !== undefined || address !== undefined) {
    const found = `${id === undefined ? "--address" : "--held"} cannot be used with --server`;
    throw new OperatorError({
      found,
      remedy: id === undefined ? "run this on its machine" : `see events held show ${id}`,
    });
  }
  if (source === undefined) throw noSource();
  const time = at === undefined ? {} : { at: isoTime(parseTime("--at", at, Date.now())) };
  const bytes = await readStdinBytes();
  if (!isUtf8(bytes))
    throw new OperatorError({ found: "The request has bytes that are not UTF-8", remedy: "run this on its machine" });
  return server.post("sources/explain", { source, request: bytes.toString(), ...time, ...(url && { url }) });
}

const SETTINGS = ["TRUSTED_PROXIES", "TLS_CERT_FILE", "DATA_DIR"] as const;

/** The request on standard input. */
async function given(
  sources: readonly Source[],
  name: string | undefined,
  { at, url, address }: ExplainOptions,
): Promise<Captured> {
  if (name === undefined) throw noSource();
  const source = findSource(sources, name);
  const now = at === undefined ? Date.now() : parseTime("--at", at, Date.now());
  const sender = addressOption(address);
  const raw = parseRawRequest(await readStdinBytes());
  if (typeof raw === "string") {
    throw new OperatorError({
      found: `Standard input is no HTTP request: ${raw}`,
      remedy: "pass one as it was captured",
    });
  }
  return { source, raw, now, address: sender, sentTo: sentTo(raw, url) };
}

const noSource = () =>
  new OperatorError({ found: "No source is named", remedy: "name one, or a held delivery with --held" });

/** A held delivery, as of its receipt unless another time is given. */
async function held(
  sources: readonly Source[],
  name: string | undefined,
  id: string,
  { at, url, address }: ExplainOptions,
): Promise<Captured> {
  const delivery = await readHeld(id);
  if (name !== undefined && name !== delivery.source) {
    throw new OperatorError({ found: `Held delivery ${id} is of ${delivery.source}`, remedy: `leave out ${name}` });
  }
  const raw = rawRequestOf(delivery);
  const { origin, target } = delivery;
  return {
    source: findSource(sources, delivery.source),
    raw,
    now: at === undefined ? delivery.receivedAt : parseTime("--at", at, Date.now()),
    address: addressOption(address) ?? canonicalAddress(delivery.address) ?? undefined,
    sentTo: sentTo(raw, url) ?? { origin, target },
  };
}

function print({ checks, genuine, reason, answer, handshake, eventId, type, verify }: DeliveryExplanation): void {
  printTable(
    ["CHECK", "PASSED", "DETAIL"],
    checks.map(({ name, ok, detail }) => [name, ok ? "yes" : "NO", detail]),
  );
  if (verify !== null) say(printableLines(`This would accept its signature:\n  ${verify}`));
  if (eventId !== null) say(printable(`The event would be ${eventId} of type ${type}.`));
  const why = new Set([answer.code, answer.reason].filter((text) => text !== null));
  if (handshake === null) say(genuine ? "The delivery is genuine." : notGenuine(reason, why));
  say(printable(`The server would answer ${answer.status}${why.size === 0 ? "" : `: ${[...why].join(", ")}`}.`));
}

/** The reason is left out where the answer says it. */
function notGenuine(reason: DeliveryExplanation["reason"], said: ReadonlySet<string>): string {
  return `The delivery is not genuine${reason === null || said.has(reason) ? "" : `: ${reason}`}.`;
}

/** The lists of addresses as the server has last read them. */
function listsIn(dataDir: string): RehearsalOptions["addressLists"] {
  const copies = openAddressCopies(dataDir);
  const rangesIn = (list: AddressList) => {
    const addresses = list.kind === "file" ? addressesInFile(list) : copies.read(list)?.addresses;
    return addresses === undefined || addresses instanceof Error ? undefined : rangesOf(addresses);
  };
  return {
    find(lists, address) {
      const ranges = lists.map(rangesIn);
      if (ranges.some((list) => list && isIn(list, address))) return "listed";
      return ranges.includes(undefined) ? "unknown" : "not listed";
    },
  };
}

/** Whether a secret is not retired, by what the server has stored of its use. */
function acceptanceOf(source: Source, environment: Environment, now: number): RehearsalOptions["acceptsSecret"] {
  const store = { list: () => readIfAny(environment, [], ({ sources }) => sources.list()) };
  return createRetirement({ store, sources: () => [source], log: createLog("silent"), now: () => now }).accepts;
}

/** The address that the sender wrote: the option, else that of the request if it is whole. */
function sentTo(raw: RawRequest, url: string | undefined): SentTo | undefined {
  const found = sentToOf(raw, url);
  if (found !== null) return found;
  throw new OperatorError({
    found: "--url is not an http or https URL",
    remedy: "give one such as https://example.com/hook",
  });
}
