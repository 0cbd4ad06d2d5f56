/** Delivers at a steady rate for minutes while the worker runs. Measures latency, memory and waiting events. */
import { join } from "node:path";
import { writeCorpus } from "./corpus.ts";
import { playCorpus } from "./load.ts";
import { printHead, printRow } from "./table.ts";
import { rssMb, startProduct, type Target, WEBHOOK_SECRET } from "./targets.ts";

const CONNECTIONS = 64;
const SAMPLE_MS = 1000;

export async function measureSustained(scratch: string, minutes: number, rate: number): Promise<void> {
  const corpus = join(scratch, "sustained.tsv");
  const seconds = minutes * 60;
  await writeCorpus(corpus, Math.ceil(seconds * rate * 1.05), WEBHOOK_SECRET, "evt_s");
  const server = await startProduct(scratch);
  try {
    const most = { rss: 0, queued: 0, waiting: 0 };
    const sampling = setInterval(async () => {
      const { queued, waiting } = await readGauges(server);
      most.rss = Math.max(most.rss, rssMb(server.pid));
      most.queued = Math.max(most.queued, queued);
      most.waiting = Math.max(most.waiting, waiting);
    }, SAMPLE_MS);
    const result = await playCorpus(server, { connections: CONNECTIONS, seconds, corpus, rate });
    clearInterval(sampling);
    const end = await readGauges(server);
    printHead([
      "minutes",
      "deliveries/s",
      "errors",
      "p50 ms",
      "p99 ms",
      "slowest ms",
      "most queued",
      "most waiting",
      "queued at the end",
      "most RSS MB",
    ]);
    const { perSecond, errors, p50Ms, p99Ms, maxMs } = result;
    printRow([
      minutes,
      Math.round(perSecond),
      errors,
      p50Ms,
      p99Ms,
      maxMs,
      most.queued,
      most.waiting,
      end.queued,
      Math.round(most.rss),
    ]);
  } finally {
    await server.stop();
  }
}

/** The number of events that wait for the worker, and of deliveries that wait for a commit. */
async function readGauges({ url }: Target): Promise<{ queued: number; waiting: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const gauge = (name: string) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1] ?? Number.NaN);
  return { queued: gauge("authserve_events_queued"), waiting: gauge("authserve_intake_waiting_deliveries") };
}
