import { parentPort, workerData } from "node:worker_threads";
import { AppError, describeError } from "../errors.ts";
import type { StatRequest } from "../events/stats.ts";
import { repeat } from "../lib/repeat.ts";
import { type RunCall, serveCalls } from "../lib/thread-rpc.ts";
import { eventParts } from "../storage/event-parts.ts";
import { createPayloadCodec, type EncryptionKey } from "../storage/payload-codec.ts";
import { translatingErrors } from "./async-store.ts";
import { type PackedEvents, packPoints, unpackEvents } from "./codec.ts";
import { openDatabase, openReader } from "./database.ts";
import { eventArrivals } from "./event-arrivals.ts";
import { eventReads } from "./event-reads.ts";
import { sqliteEvents } from "./events.ts";
import { assertInPlace, isLogGone, type OpenFiles, watchLogLength } from "./open-files.ts";
import { onSqlite } from "./queries.ts";
import { reserveBeside } from "./reserve.ts";
import { sqliteSessions } from "./sessions.ts";
import { statReads } from "./stats.ts";
import { syncSmallStores } from "./sync-small-stores.ts";
import { sqliteFailures } from "./throttle.ts";
import { tryServer } from "./trial.ts";
import { monitorWrites } from "./writes.ts";

/** What the storage thread is started with: it writes. */
export interface StorageThreadData {
  role: "storage";
  dataDir: string;
  /** The files of the database that the server has opened. */
  files: OpenFiles;
  /** `MIN_FREE_DISK`; undefined for the default. */
  minFreeBytes: number | undefined;
  keys?: readonly EncryptionKey[];
}

/** What the reading thread is started with. */
export interface ReadThreadData {
  role: "reading";
  file: string;
  keys: readonly EncryptionKey[];
}

const IDLE_MS = 30_000;
// Deliveries wait as long when another program locks the database.
const TRIAL_TIMEOUT_MS = 2000;

/** What the storage thread serves. */
export type StorageServices = ReturnType<typeof openServices>["services"];

/** What the reading thread serves. */
export type ReadServices = ReturnType<typeof openReads>;

/**
 * Opens the only writing connection. `ended` is called once it is closed. Returns the stores on it, and what runs a
 * call.
 */
function openServices({ dataDir, files, minFreeBytes, keys = [] }: StorageThreadData, ended: () => void) {
  const inPlace = () => assertInPlace(dataDir, files);
  inPlace();
  const database = openDatabase(dataDir, { isOpen: true });
  const assertWhole = watchLogLength(database, files);
  const writes = monitorWrites(database, { inPlace, minFreeBytes, reserve: reserveBeside(database.name) });
  const reader = openReader(database.name);
  const codec = createPayloadCodec(keys);
  const events = sqliteEvents(database, reader, codec);
  const sessions = sqliteSessions(database);
  const small = syncSmallStores(database, codec);
  const anyRead = database.prepare("SELECT count(*) FROM sqlite_schema");
  // The next change reports an error.
  const idling = repeat(writes.idle, { everyMs: IDLE_MS, onError: () => {} });
  const end = () => {
    void idling.stop();
    reader.close();
    database.close();
    ended();
  };
  const services = {
    events: {
      ...events,
      // An acknowledged delivery must not go to a removed file. Attempts of events stored there are still settled.
      append(packed: PackedEvents) {
        inPlace();
        writes.requireRoom(packed.payloads.length);
        return events.append(unpackEvents(packed));
      },
      check() {
        events.check();
        writes.check();
      },
    },
    sessions: {
      ...sessions,
      replace(...args: Parameters<typeof sessions.replace>) {
        inPlace();
        return sessions.replace(...args);
      },
    },
    throttle: sqliteFailures(database),
    ...small,
    held: {
      ...small.held,
      hold(batch: Parameters<typeof small.held.hold>[0]) {
        inPlace();
        writes.requireRoom(batch.reduce((sum, { delivery }) => sum + delivery.body.length, 0));
        return small.held.hold(batch);
      },
    },
    files: {
      /** Why a file of the database is not in its place; null if all are. */
      check(): string | null {
        try {
          // What a removed log holds would be lost at a kill. In the database it is safe.
          if (isLogGone(dataDir, files)) database.pragma("wal_checkpoint(PASSIVE)");
          inPlace();
          assertWhole();
          return null;
        } catch (error) {
          return describeError(error instanceof AppError ? error.cause : error);
        }
      },
      sweep: events.sweep,
    },
    trial: { run: () => tryServer(database, TRIAL_TIMEOUT_MS) },
    thread: {
      ready: () => {},
      // After the answer to this call is sent.
      close: () => void setImmediate(end),
    },
  };
  const runCall: RunCall = (call, service) => {
    // A checkpoint is no part of a transaction.
    if (service === "files") return call();
    if (service !== "thread") assertWhole();
    // It rolls back its own transaction.
    if (service === "trial") return call();
    const result = writes.run(call);
    try {
      // The first read after a change writes to the WAL index, a memory-mapped file. On the server's thread a stalled
      // disk would delay all requests.
      anyRead.get();
    } catch {
      // The change is committed. The next read reports the error.
    }
    return result;
  };
  return { services, runCall };
}

/** Opens a connection for lists and searches: they take long, and deliveries must not wait for them. */
function openReads({ file, keys }: ReadThreadData) {
  const reader = openReader(file);
  const codec = createPayloadCodec(keys);
  const { list } = eventReads(reader, codec);
  const { get, count, jobs } = onSqlite(reader, eventParts(codec));
  const { stats } = statReads(reader);
  const packedStats = (request: StatRequest) => {
    const { points, sums } = stats(request);
    return { points: packPoints(points), sums };
  };
  return {
    events: translatingErrors({ list, get, count, jobs, ...eventArrivals(reader), stats: packedStats }),
  };
}

/** Runs in a thread, and answers calls to the stores. */
function run(data: StorageThreadData | ReadThreadData): void {
  const port = parentPort;
  if (!port) throw new Error("this file runs only as a thread");
  if (data.role === "reading") {
    serveCalls(openReads(data), port, (call) => call());
    return;
  }
  const { services, runCall } = openServices(data, () => port.close());
  serveCalls(services, port, runCall);
}

run(workerData);
