/** One of two targets is down for minutes while deliveries go on. Measures what the other route notices of it. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { writeCorpus } from "./corpus.ts";
import { playCorpus } from "./load.ts";
import { printHead, printRow } from "./table.ts";
import { metricOf, startProduct, WEBHOOK_SECRET } from "./targets.ts";

const CONNECTIONS = 16;
/** Deliveries before the outage, and after it. */
const AROUND_SECONDS = 10;
const DRAIN_MS = 600_000;

export async function measureOutage(scratch: string, minutes: number, rate: number): Promise<void> {
  const seconds = minutes * 60 + 2 * AROUND_SECONDS;
  const corpus = join(scratch, "outage.tsv");
  await writeCorpus(corpus, Math.ceil(seconds * rate * 1.05), WEBHOOK_SECRET, "evt_o");
  const steady = await startCountingTarget();
  const failing = await startCountingTarget();
  const file = join(scratch, "outage.yaml");
  writeFileSync(file, `routes: [{ name: steady, to: "${steady.url}" }, { name: failing, to: "${failing.url}" }]\n`);
  const server = await startProduct(scratch, { CONFIG_FILE: file, LOG_LEVEL: "warn" });
  try {
    let mostQueued = 0;
    const sampling = setInterval(async () => {
      mostQueued = Math.max(mostQueued, await metricOf(server, 'route_jobs_queued{route="steady"}'));
    }, 1000);
    setTimeout(() => failing.answer(503), AROUND_SECONDS * 1000);
    setTimeout(() => failing.answer(204), (AROUND_SECONDS + minutes * 60) * 1000);
    const load = await playCorpus(server, { connections: CONNECTIONS, seconds, corpus, rate });
    const endedAt = performance.now();
    while ((await metricOf(server, "events_queued")) > 0 && performance.now() - endedAt < DRAIN_MS) await delay(100);
    const drainedAfter = Math.round((performance.now() - endedAt) / 1000);
    clearInterval(sampling);
    printHead(["minutes down", "delivered", "errors", "p99 ms", "got by steady", "got by failing", "asked while down"]);
    printRow([
      minutes,
      load.requests,
      load.errors,
      load.p99Ms,
      steady.delivered.size,
      failing.delivered.size,
      failing.refused(),
    ]);
    console.log(`most jobs queued for the steady target: ${mostQueued}`);
    console.log(`all processed ${drainedAfter} s after the last delivery`);
    console.log(`dead letters: ${await metricOf(server, "events_dead_lettered")}`);
  } finally {
    await server.stop();
    steady.close();
    failing.close();
  }
}

/** A target that notes the events that it takes. */
async function startCountingTarget() {
  const delivered = new Set<string>();
  let status = 204;
  let refused = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      if (status === 204) delivered.add(String(request.headers["x-event-id"]));
      else refused++;
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    delivered,
    refused: () => refused,
    answer(next: number) {
      status = next;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
