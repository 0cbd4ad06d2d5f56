import { createEmbeddedSessionStore } from "../auth/sessions/embedded.ts";
import type { SessionStore } from "../auth/sessions/store.ts";
import { sqliteFailures } from "../auth/throttle-sqlite.ts";
import type { FailureStore, ThrottleStore } from "../auth/throttle-store.ts";
import { countUnderWay } from "../auth/throttle-under-way.ts";
import { createSqliteEventStore } from "../events/sqlite/store.ts";
import type { Appended, EventStore, NewEvent } from "../events/store.ts";
import { startStorageThread } from "../packaging.ts";
import { promised } from "../promised.ts";
import { type Database, openDatabase } from "../sqlite/database.ts";
import { packEvents } from "./packed-events.ts";
import { createRemote, type Remote } from "./remote.ts";

/** The stores of a data directory, as the server uses them. */
export interface Storage {
  events: EventStore;
  sessions: SessionStore;
  throttle: ThrottleStore;
  close(): Promise<void>;
}

export interface StorageOptions {
  dataDir: string;
  /** Told when the storage thread has died and a new one is being started. */
  onThreadDeath: (error: Error) => void;
}

// A thread that dies at once, again and again, must not keep the process busy.
const RESTART_DELAY_MS = 200;

/**
 * Opens the stores of a data directory with their writes on a thread of their own, so that a commit never holds up the
 * HTTP thread. Reads that every request needs (sessions, throttle) stay on this thread, on a connection of their own.
 * When the thread dies, what is under way fails with `store_unavailable`, and a new thread takes over.
 */
export async function openStorage({ dataDir, onThreadDeath }: StorageOptions): Promise<Storage> {
  const reader = openDatabase(dataDir, { checked: true });
  let closing = false;
  let thread: Thread;

  function start(): Thread {
    const started = startThread(dataDir);
    started.died.then((error) => {
      if (closing) return;
      onThreadDeath(error);
      setTimeout(() => {
        if (!closing) thread = start();
      }, RESTART_DELAY_MS).unref();
    });
    return started;
  }
  thread = start();
  await thread.remote.call("thread", "ready", []);

  return {
    ...proxies(() => thread.remote, reader),
    async close() {
      closing = true;
      await thread.remote.call("thread", "close", []).catch(() => {});
      await thread.died;
      reader.close();
    },
  };
}

interface Thread {
  remote: Remote;
  /** Resolves with the reason when the thread has ended. */
  died: Promise<Error>;
}

function startThread(dataDir: string): Thread {
  const worker = startStorageThread({ dataDir });
  const remote = createRemote(worker);
  const died = new Promise<Error>((resolve) => {
    let reason = new Error("the storage thread ended");
    worker.on("error", (error) => {
      reason = error as Error;
    });
    worker.on("exit", () => {
      remote.fail(reason);
      resolve(reason);
    });
  });
  return { remote, died };
}

function proxies(remote: () => Remote, reader: Database): Omit<Storage, "close"> {
  /** Every method of a store on the thread that is alive now. */
  const behind = <T extends object>(target: string, local: T, patient: readonly (keyof T)[] = []): T =>
    Object.fromEntries(
      Object.keys(local).map((method) => {
        const options = { patient: patient.includes(method as keyof T) };
        return [method, (...args: unknown[]) => remote().call(target, method, args, options)];
      }),
    ) as T;

  const events = createSqliteEventStore(reader);
  const sessions = createEmbeddedSessionStore(reader);
  const failures = sqliteFailures(reader);
  return {
    events: {
      ...behind("events", events, ["claim", "settle", "renew"]),
      append(batch: NewEvent[]) {
        const { packed, transfer } = packEvents(batch);
        return remote().call<Appended[]>("events", "append", [packed], { transfer });
      },
      backlog: events.backlog,
      close: events.close,
    },
    sessions: {
      ...behind("sessions", sessions),
      current: sessions.current,
      find: sessions.find,
      supersession: sessions.supersession,
      close: sessions.close,
    },
    throttle: countUnderWay(failures, behind<FailureStore>("throttle", promised(failures))),
  };
}
