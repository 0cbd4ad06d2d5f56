import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { embeddedSessions } from "../auth/sessions/embedded.ts";
import { sqliteFailures } from "../auth/throttle-sqlite.ts";
import { sqliteEvents } from "../events/sqlite/store.ts";
import { collectGarbageSoon } from "../garbage-collection.ts";
import { assertInPlace, type FileId, openDatabase } from "../sqlite/database.ts";
import { createAnswering } from "../threads/remote.ts";
import { type PackedEvents, unpackEvents } from "./packed-events.ts";
import { watchWrites } from "./watched-writes.ts";

/** What the storage thread is started with. */
export interface StorageThreadData {
  dataDir: string;
  /** The database that the server has opened. */
  file: FileId;
  /** Brings the ports of further threads that call. */
  ports: MessagePort;
}

/**
 * Runs in the storage thread: owns the one connection that writes, and answers calls to the stores on it.
 * All calls of a group share one transaction and so one wait for the disk.
 */
function run(): void {
  const port = parentPort;
  if (!port) throw new Error("this file is the storage thread's");
  const { dataDir, file, ports } = workerData as StorageThreadData;
  const database = openDatabase(dataDir, { isOpen: true, file });
  const inPlace = () => assertInPlace(dataDir, file);
  const writes = watchWrites(database, inPlace);
  const events = sqliteEvents(database);
  const sessions = embeddedSessions(database);
  const end = () => {
    database.close();
    port.close();
  };
  const targets = {
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
      // Behind the answers to it and to whatever shares its transaction.
      close: () => void setImmediate(end),
    },
  };
  const read = database.prepare("SELECT count(*) FROM sqlite_schema");
  const answer = createAnswering(targets, (group) => {
    const result = writes.run(group);
    try {
      // The first to read the newest change notes that in a file that is mapped into memory: on another thread a disk that
      // has stalled meanwhile would hold it up there, with all requests.
      read.get();
    } catch {
      // What was written is written. The next to read says what is wrong.
    }
    return result;
  });
  answer(port);
  ports.on("message", (another: MessagePort) => {
    answer(another);
    another.unref();
  });
  // The thread lives for the port of whoever started it.
  ports.unref();
}

run();
collectGarbageSoon();
