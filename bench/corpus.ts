import { createHmac, hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";

/** More deliveries per second than any server here can accept. */
const MOST_PER_SECOND = 90_000;

/** The order of event ids: sequential or random. Many senders use random ids. */
export type Ids = "sequential" | "random";

/** The id of an event by its prefix and number. It is always the same. */
export function eventIdOf(ids: Ids, prefix: string, number: number): string {
  return ids === "random" ? hash("md5", `${prefix}${number}`) : `${prefix}${number}`;
}

/** Writes a corpus that is long enough for a run at full speed. */
export function writeCorpusFor(
  seconds: number,
  file: string,
  secret: string,
  prefix: string,
  ids?: Ids,
): Promise<void> {
  return writeCorpus(file, Math.ceil(seconds * MOST_PER_SECOND), secret, prefix, ids);
}

/** The body of a delivery of about 260 bytes. */
export function deliveryBody(id: string, number: number, padding?: string): string {
  return JSON.stringify({
    id,
    object: "event",
    api_version: "2026-01-01",
    created: 1_790_000_000 + (number % 86_400),
    data: {
      object: {
        id: `pi_${number % 5000}`,
        object: "payment_intent",
        amount: 100 + (number % 9900),
        currency: "eur",
        status: "succeeded",
      },
    },
    livemode: false,
    type: number % 3 ? "payment_intent.succeeded" : "payment_intent.created",
    padding,
  });
}

/**
 * Writes signed, unique deliveries of about 260 bytes, one per line: signature TAB id TAB body. `paddingBytes` of text
 * that does not compress make them larger.
 */
export async function writeCorpus(
  file: string,
  count: number,
  secret: string,
  prefix: string,
  ids: Ids = "sequential",
  paddingBytes = 0,
): Promise<void> {
  const out = createWriteStream(file);
  let lines = "";
  for (let i = 0; i < count; i++) {
    const id = eventIdOf(ids, prefix, i);
    const padding = paddingBytes > 0 ? randomBytes(Math.ceil((paddingBytes * 3) / 4)).toString("base64") : undefined;
    const body = deliveryBody(id, i, padding);
    lines += `${createHmac("sha256", secret).update(body).digest("hex")}\t${id}\t${body}\n`;
    if (lines.length > 1 << 20) {
      if (!out.write(lines)) await once(out, "drain");
      lines = "";
    }
  }
  out.end(lines);
  await once(out, "finish");
}
