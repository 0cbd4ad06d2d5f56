import { parentPort, workerData } from "node:worker_threads";
import { type RpcTargets, serveCalls } from "../lib/thread-rpc.ts";
import { type PackedEvents, unpackEvents } from "./codec.ts";
import { assertInPlace, type FileId, openDatabase, openReader } from "./database.ts";
import { sqliteEvents } from "./events.ts";
import { embeddedSessions } from "./sessions.ts";
import { sqliteFailures } from "./throttle.ts";
import { watchWrites } from "./writes.ts";

/** What the storage thread is started with. */
export interface StorageThreadData {
  dataDir: string;
  /** The database that the server has opened. */
  file: FileId;
}

/** Runs in the storage thread: owns the one connection that writes, and answers calls to the stores on it. */
function run(): void {
  const port = parentPort;
  if (!port) throw new Error("this file is the storage thread's");
  const { dataDir, file } = workerData as StorageThreadData;
  const database = openDatabase(dataDir, { isOpen: true, file });
  const inPlace = () => assertInPlace(dataDir, file);
  const writes = watchWrites(database, inPlace);
  const reader = openReader(database);
  const events = sqliteEvents(database, reader);
  const sessions = embeddedSessions(database);
  const end = () => {
    reader.close();
    database.close();
    port.close();
  };
  const targets: RpcTargets = {
    events: {
      ...events,
      // What is promised must be found again. What became of events that are stored is recorded all the same.
      append(packed: PackedEvents) {
        inPlace();
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
    thread: {
      ready: () => {},
      // Behind its own answer.
      close: () => void setImmediate(end),
    },
  };
  serveCalls(targets, port, (call) => {
    const result = writes.run(call);
    try {
      // The first to read the newest change notes that in a file that is mapped into memory. On the server's thread a
      // disk that has stalled meanwhile would hold up all requests.
      events.check();
    } catch {
      // What was written is written. The next to read says what is wrong.
    }
    return result;
  });
}

run();
