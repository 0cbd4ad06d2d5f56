import { parentPort, workerData } from "node:worker_threads";
import type { StatRequest } from "../events/stats.ts";
import { serveCalls } from "../lib/thread-rpc.ts";
import { createPayloadCodec, type EncryptionKey } from "../storage/payload-codec.ts";
import { translatingErrors } from "./async-store.ts";
import { packPoints } from "./codec.ts";
import { openReader } from "./database.ts";
import { eventArrivals } from "./event-arrivals.ts";
import { eventReads } from "./event-reads.ts";
import { openJobReads } from "./open-job-pages.ts";
import { statReads } from "./stats.ts";

/** Runs in the reading thread, for lists and searches: they take long, and deliveries must not wait for them. */
function run(): void {
  const port = parentPort;
  if (!port) throw new Error("this file runs only as the reading thread");
  serveCalls({ events: openReads(workerData as ReadThreadData) }, port, (call) => call());
}

/** What the reading thread is started with. */
export interface ReadThreadData {
  file: string;
  keys: readonly EncryptionKey[];
}

/** What the reading thread serves. */
export type ReadServices = { events: ReturnType<typeof openReads> };

function openReads({ file, keys }: ReadThreadData) {
  const reader = openReader(file);
  const { list, get } = eventReads(reader, createPayloadCodec(keys));
  const { stats } = statReads(reader);
  const packedStats = (request: StatRequest) => {
    const { points, sums } = stats(request);
    return { points: packPoints(points), sums };
  };
  return translatingErrors({ list, get, ...openJobReads(reader), ...eventArrivals(reader), stats: packedStats });
}

run();
