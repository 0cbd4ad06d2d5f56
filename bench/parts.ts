/**
 * `npm run bench -- parts` shows what each part of a delivery costs in the code of the server, in microseconds. Each
 * figure is the best of many rounds, because noise only adds time. System calls and turns of the event loop are not in
 * it: `bench/profile.ts` has the HTTP thread as a whole.
 */
import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { NEW } from "../src/events/dedupe.ts";
import type { NewEvent } from "../src/events/store.ts";
import { requestIdOf } from "../src/http/endpoint.ts";
import { commonHeaders, refuseAmbiguous } from "../src/http/headers.ts";
import { clientAddress, sentOrigin } from "../src/http/proxies.ts";
import { countAppends } from "../src/instrument.ts";
import { requireEncodableType } from "../src/lib/body-headers.ts";
import { parseStrictJson } from "../src/lib/json.ts";
import { createMetrics } from "../src/metrics.ts";
import { packEvents, unpackEvents } from "../src/sqlite/codec.ts";
import { openDatabase } from "../src/sqlite/database.ts";
import { sqliteEvents } from "../src/sqlite/events.ts";
import { statWriter } from "../src/sqlite/stats.ts";
import { openContent } from "../src/webhook/content/content.ts";
import { storedHeaders } from "../src/webhook/content/stored-headers.ts";
import { defaultSource } from "../src/webhook/default-source.ts";
import { createIntake } from "../src/webhook/intake/intake.ts";
import { createSourceCounter } from "../src/webhook/intake/source-counter.ts";
import { createVerifier } from "../src/webhook/signature/signature.ts";
import { eventOf } from "../src/webhook/stages/event.ts";
import { requirePayload } from "../src/webhook/stages/payload.ts";
import { deliveryBody } from "./corpus.ts";
import { CLAIM, fanOut } from "./fill.ts";
import { storedEvent } from "./stored-event.ts";
import { printHead, printRow } from "./table.ts";
import { WEBHOOK_SECRET } from "./targets.ts";

const ROUNDS = 40;
/** Deliveries that one commit has at 64 connections. */
const BATCH = 32;
const TYPE = "application/json";

const secret = { name: "env:WEBHOOK_SECRET", value: WEBHOOK_SECRET, mark: "0000" };
const source = defaultSource({ path: "/webhook", secrets: [secret], bodyLimitBytes: 1 << 20 });
const body = Buffer.from(deliveryBody("evt_1", 1));
const headers = {
  host: "127.0.0.1:3000",
  "content-type": TYPE,
  "x-signature": createHmac("sha256", WEBHOOK_SECRET).update(body).digest("hex"),
  "x-request-id": "evt_1",
  "content-length": String(body.length),
};
const request = {
  headers,
  rawHeaders: Object.entries(headers).flat(),
  url: "/webhook",
  method: "POST",
  httpVersion: "1.1",
  socket: { remoteAddress: "127.0.0.1" },
} as unknown as IncomingMessage;

/** Prints the costs of a delivery, in the order of its way. */
export async function measureParts(scratch: string): Promise<void> {
  printHead(["part of a delivery", "µs"]);
  for (const [part, us] of [...partsOfRequest(), ...(await partsOfBatch()), ...partsOfStore(scratch)]) {
    printRow([part, us.toFixed(2)]);
  }
}

type Parts = [part: string, us: number][];

function partsOfRequest(): Parts {
  const now = Date.now();
  const verifier = createVerifier(source);
  const verify = () => {
    const read = verifier.read(headers, now);
    if ("reason" in read) throw new Error(read.reason);
    const origin = sentOrigin(request, undefined);
    const sent = { method: "POST", origin, target: "/webhook", headers, content: openContent(body, TYPE) };
    return verifier.verify(sent, read.candidates);
  };
  const verified = verify();
  if (typeof verified === "string") throw new Error(verified);
  const content = openContent(body, TYPE);
  requirePayload(source, content);
  const delivery = { verified, headers, payload: content, address: "127.0.0.1", receivedAt: now };
  const text = body.toString();
  const guard = () => {
    refuseAmbiguous(request);
    requireEncodableType(request, source.contentTypes);
    return requestIdOf(request) + clientAddress(request, undefined);
  };
  return [
    ["guard: unambiguous headers, media type, request id, address", bestOf(guard)],
    ["signature: read the header, HMAC, compare", bestOf(verify)],
    ["content: UTF-8, JSON, no repeated names", bestOf(() => parseStrictJson(body))],
    ["of that, JSON.parse", bestOf(() => JSON.parse(text))],
    ["payload: the shape of its envelope", bestOf(() => requirePayload(source, content))],
    ["identity and the event's row", bestOf(() => eventOf(source, delivery))],
    ["of that, the headers to store", bestOf(() => storedHeaders(headers))],
    [
      "answer: JSON and headers",
      bestOf(() => [JSON.stringify({ ...NEW, eventId: "evt_1" }), commonHeaders("1", false)]),
    ],
  ];
}

const batchOf = (from: number): NewEvent[] =>
  Array.from({ length: BATCH }, (_, index) =>
    storedEvent({
      eventId: `evt_${from + index}`,
      type: "payment_intent.succeeded",
      payload: Buffer.from(body),
      receivedAt: Date.now(),
    }),
  );

async function partsOfBatch(): Promise<Parts> {
  const results = Array.from({ length: BATCH }, () => NEW);
  const append = countAppends({ append: async () => results }, createMetrics());
  const intake = createIntake({ append: async () => results, pausedBy: () => null, queueLimit: 10_000 });
  const counter = createSourceCounter({ add: async () => {} }, { onError() {} });
  const batch = batchOf(0);
  const { port1, port2 } = new MessageChannel();
  const message = () => {
    const { packed, transfer } = packEvents(batch);
    port1.postMessage({ id: 1, method: "events.append", args: [packed] }, transfer);
    return receiveMessageOnPort(port2);
  };
  const answer = () => {
    port1.postMessage({ id: 1, result: results });
    return receiveMessageOnPort(port2);
  };
  const parts: Parts = [
    ["batch: wait for the commit, time-out", (await bestOfAsync(() => batch.map(intake.append))) / BATCH],
    ["counters: metrics", (await bestOfAsync(() => [append(batch)])) / BATCH],
    ["counters: of the source", bestOf(() => counter.received("default", secret, Date.now(), NEW))],
    ["codec and message to the storage thread", bestOf(message) / BATCH],
    ["codec: unpack there", bestOf(() => unpackEvents(packEvents(batch).packed)) / BATCH],
    ["message back", bestOf(answer) / BATCH],
  ];
  port1.close();
  await counter.flush();
  return parts;
}

/** Without waiting for the disk, and then only that. */
function partsOfStore(scratch: string): Parts {
  const database = openDatabase(join(scratch, "parts"));
  const events = sqliteEvents(database);
  const stats = statWriter(database);
  let stored = 0;
  const append = () => {
    stored += BATCH;
    events.append(batchOf(stored));
  };
  const count = database.transaction(() =>
    stats((counts) => {
      for (let i = 0; i < BATCH; i++) counts.add({ at: Date.now(), source: "default", outcome: "received" });
    }),
  );
  const commit = bestOf(append, 20);
  database.pragma("synchronous = OFF");
  const row = bestOf(append, 20);
  const counting = bestOf(count, 20);
  while (events.pending(1).length > 0) fanOut(events, 1000);
  const times = { fanOut: [] as number[], claim: [] as number[], settle: [] as number[] };
  for (let round = 0; round < 200; round++) {
    append();
    const now = Date.now();
    times.fanOut.push(timeOf(() => fanOut(events, BATCH)));
    let claimed: ReturnType<typeof events.claim>["claimed"] = [];
    times.claim.push(
      timeOf(() => {
        claimed = events.claim({ ...CLAIM, leaseMs: 60_000, limit: BATCH, now }).claimed;
      }),
    );
    const end = {
      owner: CLAIM.owner,
      next: { to: "processed" as const },
      startedAt: now,
      finishedAt: now,
      error: null,
    };
    const settlements = claimed.map(({ event, route, attempt }) => ({ event, route, attempt, ...end }));
    times.settle.push(timeOf(() => events.settle(settlements)));
  }
  database.close();
  const least = (all: number[]) => Math.min(...all) / BATCH;
  return [
    ["row: identity, contents, indexes", (row - counting) / BATCH],
    ["statistics by minute and hour", counting / BATCH],
    ["commit, waits for the disk", (commit - row) / BATCH],
    ["later: fan-out", least(times.fanOut)],
    ["later: claim", least(times.claim)],
    ["later: settle", least(times.settle)],
  ];
}

function timeOf(run: () => unknown): number {
  const from = performance.now();
  run();
  return (performance.now() - from) * 1000;
}

/** The least microseconds of a run. */
function bestOf(run: () => unknown, runs = 2000): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const from = performance.now();
    for (let i = 0; i < runs; i++) run();
    return ((performance.now() - from) * 1000) / runs;
  });
  return Math.min(...rounds);
}

async function bestOfAsync(run: () => Promise<unknown>[]): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 20 * ROUNDS; round++) {
    const from = performance.now();
    await Promise.all(run());
    best = Math.min(best, (performance.now() - from) * 1000);
  }
  return best;
}
