import type { SessionStore } from "../auth/sessions.ts";
import type { FailureStore, ThrottleStore } from "../auth/throttle/store.ts";
import type { Appended, EventStore, NewEvent, Replayed } from "../events/store.ts";
import { packEvents } from "./codec.ts";
import type { Database } from "./database.ts";
import { sqliteEvents } from "./events.ts";
import { guardedMethods, promised } from "./promised.ts";
import { createEmbeddedSessionStore } from "./sessions.ts";
import type { ThreadClient } from "./thread-client.ts";
import { createSqliteThrottleStore, sqliteFailures } from "./throttle.ts";
import { countUnderWay } from "./throttle-attempts.ts";

/** The stores of a data directory, on one database: closing `events` closes all of them. */
export interface SqliteStores {
  events: EventStore;
  sessions: SessionStore;
  throttle: ThrottleStore;
}

/** The stores on an open database, which they close; `reader` is that of {@link sqliteEvents}. */
export function storesOn(database: Database, reader?: Database): SqliteStores {
  return {
    events: withWakeUps({
      ...promised<LocalEvents>(sqliteEvents(database, reader)),
      close: async () => void database.close(),
    }),
    sessions: createEmbeddedSessionStore(database),
    throttle: createSqliteThrottleStore(database),
  };
}

type LocalEvents = Omit<EventStore, "onWork" | "close">;

/** The stores as calls to the storage thread; what every request reads comes from this thread's `reader`. */
export function storesBehind(thread: ThreadClient, reader: Database, close: () => Promise<void>): SqliteStores {
  /** Every method of a store, as a call to the storage thread. */
  const behind = <T extends object>(target: string, local: T): T =>
    Object.fromEntries(
      Object.keys(local).map((name) => [name, (...args: unknown[]) => thread.call(`${target}.${name}`, args)]),
    ) as T;

  const events = promised<LocalEvents>(sqliteEvents(reader));
  const sessions = createEmbeddedSessionStore(reader);
  const failures = sqliteFailures(reader);
  return {
    events: withWakeUps({
      ...behind("events", events),
      append(batch: NewEvent[]) {
        const { packed, transfer } = packEvents(batch);
        return thread.call<Appended[]>("events.append", [packed], transfer);
      },
      backlog: events.backlog,
      close,
    }),
    sessions: {
      ...behind("sessions", sessions),
      current: sessions.current,
      find: sessions.find,
      supersession: sessions.supersession,
    },
    throttle: countUnderWay(guardedMethods(failures), behind<FailureStore>("throttle", promised(failures))),
  };
}

/** Tells listeners of work that comes through this store. That of other processes is found by polling. */
function withWakeUps(events: Omit<EventStore, "onWork">): EventStore {
  const listeners: (() => void)[] = [];
  const tell = () => {
    for (const listener of listeners) listener();
  };
  return {
    ...events,
    async append(batch) {
      const results = await events.append(batch);
      if (results.some(({ duplicate }) => !duplicate)) tell();
      return results;
    },
    async replay(...args): Promise<Replayed> {
      const replayed = await events.replay(...args);
      if (replayed.count > 0) tell();
      return replayed;
    },
    onWork(listener) {
      listeners.push(listener);
    },
  };
}
