/** Compares intake with encryption to intake without, and searches many encrypted payloads. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../src/sqlite/database.ts";
import { localStores } from "../src/sqlite/stores.ts";
import { createPayloadCodec, encryptionKey } from "../src/storage/payload-codec.ts";
import { newEvent } from "../test/helpers/events.ts";
import { secondsOf } from "./cpu.ts";
import { figureLine, GOALS } from "./goals.ts";
import { playCorpus, prepareRun, spreadOf, WARM_UP_SECONDS } from "./load.ts";
import { startCheckout } from "./targets.ts";

const CONNECTIONS = 64;
const ROOT = join(import.meta.dirname, "..");

/** Starts a server with a key and one without, in turn, and prints the ratio of their rates. */
export async function measureEncryption(scratch: string, rounds: number, seconds: number): Promise<void> {
  const key = join(scratch, "encryption.key");
  writeFileSync(key, randomBytes(32).toString("base64"), { mode: 0o600 });
  const ratios: number[] = [];
  const times = { plain: [] as number[], encrypted: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const run = await prepareRun(scratch, seconds, `evt_${Date.now().toString(36)}_`);
    const rates = { plain: 0, encrypted: 0 };
    for (const kind of round % 2 === 0 ? (["plain", "encrypted"] as const) : (["encrypted", "plain"] as const)) {
      const target = await startCheckout(scratch, ROOT, [], kind === "plain" ? {} : { ENCRYPTION_KEYS: key });
      try {
        const { warmUp: corpus } = run;
        await playCorpus(target, { connections: CONNECTIONS, seconds: WARM_UP_SECONDS, corpus });
        const before = secondsOf(target.pid);
        const { perSecond, errors } = await playCorpus(target, {
          connections: CONNECTIONS,
          seconds,
          corpus: run.corpus,
        });
        const microseconds = ((secondsOf(target.pid) - before) * 1e6) / (perSecond * seconds);
        rates[kind] = perSecond;
        times[kind].push(microseconds);
        const figures = `${Math.round(perSecond)}/s, ${microseconds.toFixed(0)} µs of processor time each, ${errors} errors`;
        console.error(`round ${round + 1}, ${kind}: ${figures}`);
      } finally {
        await target.stop();
      }
    }
    ratios.push(rates.encrypted / rates.plain);
  }
  const { median, min, max } = spreadOf(ratios);
  console.log(
    figureLine("intake with encryption to that without", median, "x", GOALS.encryptedIntake),
    `(${min.toFixed(2)}–${max.toFixed(2)})`,
  );
  const [plain, encrypted] = [spreadOf(times.plain).median, spreadOf(times.encrypted).median];
  console.log(`processor time for each delivery: ${encrypted.toFixed(0)} µs, and ${plain.toFixed(0)} µs without`);
}

const EVENTS = 100_000;
const BATCH = 500;

/** Prints how long a search of 100,000 payloads of 1 KiB takes that finds the oldest one, encrypted and plain. */
export async function measureEncryptedSearch(scratch: string): Promise<void> {
  const encrypted = await secondsOfSearch(scratch, createPayloadCodec([encryptionKey(randomBytes(32))]));
  const plain = await secondsOfSearch(scratch, createPayloadCodec([]));
  console.log(figureLine("search of 100,000 encrypted payloads", encrypted, "s", GOALS.encryptedSearchSeconds));
  console.log(`search of 100,000 plain payloads: ${plain.toFixed(2)} s`);
}

async function secondsOfSearch(scratch: string, codec: ReturnType<typeof createPayloadCodec>): Promise<number> {
  const database = openDatabase(mkdtempSync(join(scratch, "search-")));
  const { events } = localStores(database, undefined, codec);
  for (let done = 0; done < EVENTS; done += BATCH)
    await events.append(Array.from({ length: BATCH }, (_, n) => eventOf(done + n)));
  const startedAt = performance.now();
  let found = 0;
  let before: string | null | undefined;
  while (before !== null) {
    const page = await events.list({ search: "needle-0 ", limit: 10, ...(before === undefined ? {} : { before }) });
    found += page.items.length;
    before = page.older;
  }
  if (found !== 1) throw new Error(`found ${found} events instead of 1`);
  const seconds = (performance.now() - startedAt) / 1000;
  database.close();
  return seconds;
}

const eventOf = (number: number) =>
  newEvent({
    eventId: `evt_${number}`,
    payload: Buffer.from(JSON.stringify({ id: `needle-${number} `, text: randomBytes(490).toString("hex") })),
    headers: JSON.stringify({ "user-agent": "bench", "x-request-id": randomBytes(16).toString("hex") }),
  });
