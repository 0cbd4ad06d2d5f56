import { dirname } from "node:path";
import type { AlertStore } from "../alerts/store.ts";
import type { AuditStore } from "../audit/store.ts";
import type { FactorStore } from "../auth/factors/store.ts";
import type { TokenStore } from "../auth/machine-tokens/store.ts";
import type { SessionStore } from "../auth/sessions.ts";
import type { FailureStore, ThrottleStore } from "../auth/throttle/store.ts";
import type { EncryptionStore } from "../events/encryption.ts";
import type { EventStore, NewEvent } from "../events/store.ts";
import { withWakeUps } from "../events/wake-ups.ts";
import { checksOf, type StoreChecks } from "../storage/faults.ts";
import { type PayloadCodec, PLAIN_CODEC } from "../storage/payload-codec.ts";
import type { CatchUpStore } from "../webhook/catch-up/store.ts";
import type { HeldStore } from "../webhook/held/held-store.ts";
import type { SourceStore } from "../webhook/intake/source-store.ts";
import type { OutageStore } from "../webhook/outages/store.ts";
import type { SubscriptionStore } from "../webhook/subscriptions/store.ts";
import { sqliteAlerts } from "./alerts.ts";
import { asAsync, translatingErrors } from "./async-store.ts";
import { sqliteAudit } from "./audit.ts";
import { sqliteCatchUps } from "./catch-ups.ts";
import { packEvents, unpackPoints } from "./codec.ts";
import type { Database } from "./database.ts";
import { encryptionStore } from "./encryption.ts";
import { sqliteEvents } from "./events.ts";
import { sqliteFactors } from "./factors.ts";
import { sqliteHeld } from "./held.ts";
import { withAttemptsInFlight } from "./login-attempts.ts";
import { sqliteTokens } from "./machine-tokens.ts";
import { sqliteOutages } from "./outage-store.ts";
import type { ReadThread } from "./read-thread-client.ts";
import { createSqliteSessionStore } from "./sessions.ts";
import { sqliteSources } from "./source-counts.ts";
import { sqliteSubscriptions } from "./subscriptions.ts";
import type { StorageServices } from "./thread.ts";
import type { ThreadClient } from "./thread-client.ts";
import { createSqliteThrottleStore, sqliteFailures } from "./throttle.ts";
import { PARTS } from "./trial.ts";

/** The stores of a data directory, on one database. Closing `events` closes all of them. */
export interface SqliteStores {
  events: EventStore;
  sessions: SessionStore;
  throttle: ThrottleStore;
  sources: SourceStore;
  alerts: AlertStore;
  held: HeldStore;
  tokens: TokenStore;
  audit: AuditStore;
  outages: OutageStore;
  catchUps: CatchUpStore;
  subscriptions: SubscriptionStore;
  factors: FactorStore;
  encryption: EncryptionStore;
}

/** The stores on an open database, which `close` closes. `reader` is the one of {@link sqliteEvents}. */
export function localStores(database: Database, reader?: Database, codec: PayloadCodec = PLAIN_CODEC): SqliteStores {
  return {
    events: withWakeUps({
      ...asAsync<LocalEvents>(sqliteEvents(database, reader, codec)),
      close: async () => void database.close(),
    }),
    sessions: createSqliteSessionStore(database),
    throttle: createSqliteThrottleStore(database),
    sources: asAsync<SourceStore>(sqliteSources(database)),
    encryption: encryptionStore(database, codec, dirname(database.name)),
    alerts: asAsync<AlertStore>(sqliteAlerts(database)),
    held: asAsync<HeldStore>(sqliteHeld(database, codec)),
    tokens: asAsync<TokenStore>(sqliteTokens(database)),
    audit: asAsync<AuditStore>(sqliteAudit(database)),
    outages: asAsync<OutageStore>(sqliteOutages(database)),
    catchUps: asAsync<CatchUpStore>(sqliteCatchUps(database)),
    subscriptions: asAsync<SubscriptionStore>(sqliteSubscriptions(database)),
    factors: asAsync<FactorStore>(sqliteFactors(database)),
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
  /** Makes every method of a store a call to the storage thread. */
  const onThread = <T extends object>(service: keyof StorageServices, local: T): T =>
    Object.fromEntries(
      Object.keys(local).map((name) => [
        name,
        (...args: unknown[]) => thread.call(service, name as never, args as never),
      ]),
    ) as T;

  const events = asAsync<LocalEvents>(sqliteEvents(reader));
  const sessions = createSqliteSessionStore(reader);
  const failures = sqliteFailures(reader);
  const alerts = asAsync<AlertStore>(sqliteAlerts(reader));
  const tokens = asAsync<TokenStore>(sqliteTokens(reader));
  const factors = asAsync<FactorStore>(sqliteFactors(reader));
  return {
    events: withWakeUps({
      ...onThread("events", events),
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
      ...onThread("sessions", sessions),
      current: sessions.current,
      find: sessions.find,
      supersession: sessions.supersession,
      async replace(...args) {
        requireLock();
        return thread.call("sessions", "replace", args);
      },
    },
    throttle: withAttemptsInFlight(translatingErrors(failures), onThread<FailureStore>("throttle", asAsync(failures))),
    sources: onThread("sources", asAsync<SourceStore>(sqliteSources(reader))),
    held: onThread("held", asAsync<HeldStore>(sqliteHeld(reader))),
    outages: onThread("outages", asAsync<OutageStore>(sqliteOutages(reader))),
    catchUps: onThread("catchUps", asAsync<CatchUpStore>(sqliteCatchUps(reader))),
    subscriptions: onThread("subscriptions", asAsync<SubscriptionStore>(sqliteSubscriptions(reader))),
    alerts: { ...onThread("alerts", alerts), read: alerts.read, nextMessages: alerts.nextMessages },
    audit: onThread("audit", asAsync<AuditStore>(sqliteAudit(reader))),
    tokens: { ...onThread("tokens", tokens), list: tokens.list, find: tokens.find },
    factors: {
      ...onThread("factors", factors),
      list: factors.list,
      recoveryCodesLeft: factors.recoveryCodesLeft,
      logins: factors.logins,
      loginsFromNewNetworks: factors.loginsFromNewNetworks,
    },
    encryption: encryptionStore(reader, codec, dataDir),
    checks: checksOf(PARTS, () => thread.call("trial", "run", [])),
  };
}
