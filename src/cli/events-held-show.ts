import { OperatorError } from "../errors.ts";
import { payloadJson, payloadText } from "../events/json.ts";
import { isoTime } from "../lib/iso-time.ts";
import { printable, printableLines } from "../lib/printable.ts";
import type { HeldDelivery } from "../webhook/held/held-store.ts";
import { rawRequestOf, writeRawRequest } from "../webhook/held/raw-request.ts";
import { shownHeaders, shownPath } from "../webhook/held/shown-held.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";
import { styled } from "./table.ts";
import { timeFormat } from "./time.ts";

interface ShowOptions {
  raw?: boolean;
  utc?: boolean;
  json?: boolean;
}

/** Prints a held delivery. Throws `OperatorError` when there is none. */
export async function runEventsHeldShow(id: string, { raw, utc, json }: ShowOptions): Promise<void> {
  const delivery = await readHeld(id);
  if (raw) {
    process.stdout.write(writeRawRequest(rawRequestOf(delivery)));
    say("warning: it has the credentials of the sender: keep it secret.");
  } else if (json) printJson(jsonOf(id, delivery));
  else print(delivery, timeFormat(utc, Date.now()));
}

/** The held delivery with a number of `events held`. Throws `OperatorError` when there is none. */
export async function readHeld(id: string): Promise<HeldDelivery> {
  let found: HeldDelivery | undefined;
  if (/^[0-9]{1,15}$/.test(id)) {
    await withStores(async ({ held }) => {
      [found] = await held.read([Number(id)]);
    });
  }
  if (found) return found;
  const remedy = "run authserve events held to see ids";
  throw new OperatorError({ found: `There is no held delivery ${printable(id)}`, remedy }, 1);
}

function jsonOf(id: string, delivery: HeldDelivery) {
  const { source, reason, method, origin, address, receivedAt, mediaType, body } = delivery;
  return {
    id: Number(id),
    source,
    reason,
    receivedAt: isoTime(receivedAt),
    address,
    method,
    url: origin + shownPath(delivery),
    headers: shownHeaders(delivery),
    mediaType,
    bytes: body.length,
    ...payloadJson(body),
  };
}

const NAME_WIDTH = 10;

function print(delivery: HeldDelivery, time: (ms: number) => string): void {
  const { source, reason, method, origin, address, receivedAt, mediaType, body } = delivery;
  const fact = (name: string, value: string) =>
    printData(`${styled("bold", name.padEnd(NAME_WIDTH))}${printable(value)}`);
  fact("source", source);
  fact("reason", reason);
  fact("received", `${time(receivedAt)} from ${address}`);
  fact("request", `${method} ${origin}${shownPath(delivery)}`);
  for (const [name, value] of Object.entries(shownHeaders(delivery))) fact("header", `${name}: ${value}`);
  fact("payload", `${counted(body.length, "byte")} of ${mediaType || "no media type"}`);
  printData(printableLines(payloadText(body)));
  say("To see why it was refused, run authserve sources explain --held with its id.");
}
