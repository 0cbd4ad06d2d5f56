import { OperatorError } from "../errors.ts";
import { printable, printableLines } from "../lib/printable.ts";
import { type ShownHeld, shown, shownHeld } from "../operations/held.ts";
import type { HeldDelivery } from "../webhook/held/held-store.ts";
import { rawRequestOf, writeRawRequest } from "../webhook/held/raw-request.ts";
import { operate } from "./operate.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { OperationProblem, type RemoteOptions, remoteServer } from "./remote.ts";
import { withStores } from "./stores.ts";
import { styled } from "./table.ts";
import { timeFormat } from "./time.ts";

interface ShowOptions extends RemoteOptions {
  raw?: boolean;
  utc?: boolean;
  json?: boolean;
}

/** Prints a held delivery. Throws `OperatorError` when there is none. */
export async function runEventsHeldShow(id: string, { raw, utc, json, ...remote }: ShowOptions): Promise<void> {
  const server = remoteServer(remote);
  if (raw && server !== null)
    throw new OperatorError({ found: "--raw cannot be used with --server", remedy: "run it on the server's machine" });
  if (raw) {
    process.stdout.write(writeRawRequest(rawRequestOf(await readHeld(id))));
    say("warning: it has the credentials of the sender: keep it secret.");
    return;
  }
  const found = server === null ? shownHeld(Number(id), await readHeld(id)) : await readRemote(id, remote);
  // In an order of its own, without what only a server finds out.
  const { receivedAt, address, method, url, headers, mediaType, bytes, payload, payloadBase64 } = found;
  const printed = {
    ...{ id: found.id, source: found.source, reason: found.reason },
    ...{ receivedAt, address, method, url, headers, mediaType, bytes, payload, payloadBase64 },
  };
  if (json) printJson(printed);
  else print(printed, timeFormat(utc, Date.now()));
}

async function readRemote(id: string, remote: RemoteOptions): Promise<ShownHeld> {
  if (!HELD_ID.test(id)) throw noSuchHeld(id);
  return operate(shown, { id }, remote).catch((error) => {
    throw error instanceof OperationProblem && error.code === "not_found" ? noSuchHeld(id) : error;
  });
}

const HELD_ID = /^[0-9]{1,15}$/;

/** The held delivery with a number of `events held`. Throws `OperatorError` when there is none. */
export async function readHeld(id: string): Promise<HeldDelivery> {
  let found: HeldDelivery | undefined;
  if (HELD_ID.test(id)) {
    await withStores(async ({ held }) => {
      [found] = await held.read([Number(id)]);
    });
  }
  if (found) return found;
  throw noSuchHeld(id);
}

function noSuchHeld(id: string): OperatorError {
  const remedy = "run authserve events held to see ids";
  return new OperatorError({ found: `There is no held delivery ${printable(id)}`, remedy }, 1);
}

const NAME_WIDTH = 10;

function print(delivery: ShownHeld, time: (ms: number) => string): void {
  const { source, reason, method, url, headers, address, receivedAt, mediaType, bytes, payload } = delivery;
  const fact = (name: string, value: string) =>
    printData(`${styled("bold", name.padEnd(NAME_WIDTH))}${printable(value)}`);
  fact("source", source);
  fact("reason", reason);
  fact("received", `${time(Date.parse(receivedAt))} from ${address}`);
  fact("request", `${method} ${url}`);
  for (const [name, value] of Object.entries(headers)) fact("header", `${name}: ${value}`);
  fact("payload", `${counted(bytes, "byte")} of ${mediaType || "no media type"}`);
  printData(printableLines(payload));
  say("To see why it was refused, run authserve sources explain --held with its id.");
}
