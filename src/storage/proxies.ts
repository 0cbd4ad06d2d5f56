import { createEmbeddedSessionStore } from "../auth/sessions/embedded.ts";
import type { SessionStore } from "../auth/sessions/store.ts";
import { sqliteFailures } from "../auth/throttle-sqlite.ts";
import type { FailureStore, ThrottleStore } from "../auth/throttle-store.ts";
import { countUnderWay } from "../auth/throttle-under-way.ts";
import { createSqliteEventStore } from "../events/sqlite/store.ts";
import type { Appended, EventStore, NewEvent } from "../events/store.ts";
import { promised } from "../promised.ts";
import type { Database } from "../sqlite/database.ts";
import type { Remote } from "../threads/remote.ts";
import { packEvents } from "./packed-events.ts";

/** The stores of a data directory, as the server uses them. */
export interface Stores {
  events: EventStore;
  sessions: SessionStore;
  throttle: ThrottleStore;
}

/** The stores as calls to the storage thread behind `remote`; what every request reads comes from this thread's `reader`. */
export function storesBehind(remote: () => Remote, reader: Database): Stores {
  /** Every method of a store, as a call to the storage thread. Those that are `patient` may wait for others' commit. */
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
      ...behind("events", events, ["claim", "settle", "renew", "release"]),
      append(batch: NewEvent[]) {
        const { packed, transfer } = packEvents(batch);
        return remote().call<Appended[]>("events", "append", [packed], { transfer });
      },
      backlog: events.backlog,
    },
    sessions: {
      ...behind("sessions", sessions),
      current: sessions.current,
      find: sessions.find,
      supersession: sessions.supersession,
    },
    throttle: countUnderWay(failures, behind<FailureStore>("throttle", promised(failures))),
  };
}
