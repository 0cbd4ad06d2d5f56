import { dirname } from "node:path";
import type { SessionStore } from "../auth/sessions.ts";
import type { FailureStore, ThrottleStore } from "../auth/throttle/store.ts";
import type { EncryptionStore } from "../events/encryption.ts";
import type { EventStore, NewEvent } from "../events/store.ts";
import { withWakeUps } from "../events/wake-ups.ts";
import { checksOf, type StoreChecks } from "../storage/faults.ts";
import { type PayloadCodec, PLAIN_CODEC } from "../storage/payload-codec.ts";
import { ofSmallStores, READ_AT_ONCE, type SmallStores } from "../storage/small-stores.ts";
import { asAsync, translatingErrors } from "./async-store.ts";
import { packEvents, unpackPoints } from "./codec.ts";
import type { Database } from "./database.ts";
import { encryptionStore } from "./encryption.ts";
import { sqliteEvents } from "./events.ts";
import { withAttemptsInFlight } from "./login-attempts.ts";
import { onSqlite } from "./queries.ts";
import { createSqliteSessionStore } from "./sessions.ts";
import { addStats } from "./stats.ts";
import type { StorageServices } from "./thread.ts";
import type { ReadThread, ThreadClient } from "./thread-client.ts";
import { createSqliteThrottleStore, sqliteFailures } from "./throttle.ts";
import { PARTS } from "./trial.ts";

/** The stores of a data directory, on one database. Closing `events` closes all of them. */
export interface SqliteStores extends SmallStores {
  events: EventStore;
  sessions: SessionStore;
  throttle: ThrottleStore;
  encryption: EncryptionStore;
}

/** The stores on an open database, which `close` closes. `reader` is the one of {@link sqliteEvents}. */
export function localStores(
  database: Database,
  reader?: Database,
  codec: PayloadCodec = PLAIN_CODEC,
  dataDir = dirname(database.name),
): SqliteStores {
  return {
    events: withWakeUps({
      ...asAsync<LocalEvents>(sqliteEvents(database, reader, codec)),
      close: async () => void database.close(),
    }),
    sessions: createSqliteSessionStore(database),
    throttle: createSqliteThrottleStore(database),
    encryption: encryptionStore(database, codec, dataDir),
    ...ofSmallStores<SmallStores>({ codec, addStats }, (store) => asAsync(onSqlite(database, store))),
  };
}

type LocalEvents = Omit<EventStore, "onWork" | "close">;

/**
 * What the stores of a server call: threads, and a connection on this thread for the reads that every request needs.
 */
interface ServerConnections {
  thread: ThreadClient;
  readThread: ReadThread;
  reader: Database;
  codec: PayloadCodec;
  dataDir: string;
  /** Throws `store_unavailable` while another server holds the data directory. */
  requireLock(): void;
}

/** The stores of a server. Writes go to the storage thread, lists and searches to the reading thread. */
export function storesOnThreads(
  { thread, readThread, reader, codec, dataDir, requireLock }: ServerConnections,
  close: () => Promise<void>,
): SqliteStores & { checks: StoreChecks } {
  /** Makes every method of a store a call to the storage thread, whose `services` in `thread.ts` have it. */
  const onThread = <Port extends object>(service: keyof StorageServices, store: Record<keyof Port, unknown>): Port =>
    Object.fromEntries(
      Object.keys(store).map((name) => [
        name,
        (...args: unknown[]) => thread.call(service, name as never, args as never),
      ]),
    ) as Port;

  const events = asAsync<LocalEvents>(sqliteEvents(reader));
  const sessions = createSqliteSessionStore(reader);
  const failures = sqliteFailures(reader);
  const small = ofSmallStores<SmallStores>({ codec, addStats }, (store, name) => {
    const local = asAsync<Record<string, unknown>>(onSqlite(reader, store) as never);
    const atOnce = (READ_AT_ONCE[name] ?? []) as readonly string[];
    return { ...onThread(name, store), ...Object.fromEntries(atOnce.map((method) => [method, local[method]])) };
  });
  return {
    events: withWakeUps({
      ...onThread<LocalEvents>("events", events),
      async append(batch: NewEvent[]) {
        requireLock();
        const { packed, transfer } = packEvents(batch);
        return thread.call("events", "append", [packed], transfer);
      },
      async check() {
        requireLock();
        await thread.call("events", "check", []);
      },
      backlog: events.backlog,
      routes: events.routes,
      unavailableRoutes: events.unavailableRoutes,
      askedProbes: events.askedProbes,
      attemptsSince: events.attemptsSince,
      async stats(request) {
        const { points, sums } = await readThread.call("events", "stats", [request]);
        return { points: unpackPoints(points), sums };
      },
      // A checkpoint is no part of a transaction.
      sweep: () => thread.call("files", "sweep", []),
      list: (filter) => readThread.call("events", "list", [filter]),
      get: (eventId, source) => readThread.call("events", "get", [eventId, source]),
      count: (filter, page) => readThread.call("events", "count", [filter, page]),
      jobs: (filter, page) => readThread.call("events", "jobs", [filter, page]),
      arrivals: (after, limit) => readThread.call("events", "arrivals", [after, limit]),
      arrivalsSince: (since) => readThread.call("events", "arrivalsSince", [since]),
      close,
    }),
    sessions: {
      ...onThread<SessionStore>("sessions", sessions),
      current: sessions.current,
      find: sessions.find,
      supersession: sessions.supersession,
      async replace(...args) {
        requireLock();
        return thread.call("sessions", "replace", args);
      },
    },
    throttle: withAttemptsInFlight(translatingErrors(failures), onThread<FailureStore>("throttle", failures)),
    ...small,
    encryption: encryptionStore(reader, codec, dataDir),
    checks: checksOf(PARTS, () => thread.call("trial", "run", [])),
  };
}
