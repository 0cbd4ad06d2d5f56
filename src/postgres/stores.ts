import type { SessionStore } from "../auth/sessions.ts";
import type { ThrottleStore } from "../auth/throttle/store.ts";
import type { EncryptionStore } from "../events/encryption.ts";
import type { EventStore } from "../events/store.ts";
import type { Leases, NodeStore } from "../nodes/store.ts";
import { checksOf, type StoreChecks } from "../storage/faults.ts";
import { type PayloadCodec, PLAIN_CODEC } from "../storage/payload-codec.ts";
import { ofSmallStores, type SmallStores } from "../storage/small-stores.ts";
import type { DatabaseClock } from "./clock.ts";
import type { Postgres } from "./connection.ts";
import { createPostgresEncryption } from "./encryption.ts";
import { createPostgresEventStore } from "./events.ts";
import { createPostgresLeases, createPostgresNodeStore } from "./nodes.ts";
import { onPostgres } from "./queries.ts";
import { createPostgresSessionStore } from "./sessions.ts";
import { addStats } from "./stats.ts";
import { createPostgresThrottleStore } from "./throttle.ts";
import { createTrial, PARTS } from "./trial.ts";

/** The stores in a database. Closing `events` closes all of them. */
export interface PostgresStores extends SmallStores {
  events: EventStore;
  sessions: SessionStore;
  throttle: ThrottleStore;
  encryption: EncryptionStore;
  nodes: NodeStore;
  leases: Leases;
  checks: StoreChecks;
  /** The database's clock in Unix milliseconds. Leases use it. */
  now(): number;
  close(): Promise<void>;
}

/** The stores on a connection that are written once for both databases. */
export const smallStoresOn = (postgres: Postgres, codec: PayloadCodec = PLAIN_CODEC): SmallStores =>
  ofSmallStores({ codec, addStats }, (store) => onPostgres(postgres, store));

/** The stores on a connection, which `close` closes. `server` names a server that runs as one process at a time. */
export function storesOn(
  postgres: Postgres,
  clock: DatabaseClock,
  server?: string,
  codec: PayloadCodec = PLAIN_CODEC,
): PostgresStores {
  function close(): Promise<void> {
    clock.stop();
    return postgres.close();
  }

  const trial = createTrial(postgres);
  return {
    events: { ...createPostgresEventStore(postgres, trial.appendFailed, codec), close },
    sessions: createPostgresSessionStore(postgres),
    throttle: createPostgresThrottleStore(postgres, server),
    ...smallStoresOn(postgres, codec),
    encryption: createPostgresEncryption(postgres, codec),
    nodes: createPostgresNodeStore(postgres),
    leases: createPostgresLeases(postgres),
    checks: checksOf(PARTS, trial.run),
    now: clock.now,
    close,
  };
}
