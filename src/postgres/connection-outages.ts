/** What a connection has found out about its server. */
export interface ServerFacts {
  /** For example "15.18". */
  version: string;
  /** Whether connections go through a pooler such as pgbouncer. */
  isPooled: boolean;
  /** `synchronous_commit`, if it may lose acknowledged events; else null. */
  unsafeCommit: string | null;
}

/** Listens for outages of PostgreSQL. */
export interface OutageWatcher {
  /** Called when a server accepts writes, at the start and after each outage. */
  onUp(facts: ServerFacts): void;
  /** Called once for each outage. */
  onDown(reason: Error): void;
}

/** Tells a watcher of outages from the outcomes of operations. */
interface Outages {
  /** A new connection is open, and its server accepts writes. */
  admitted(facts: ServerFacts): void;
  /** An operation has succeeded. */
  succeeded(): void;
  /** An operation has failed. */
  failed(reason: Error): void;
}

/**
 * An outage ends with the first success on a server that admits new connections. A server that refuses them may still
 * answer on open ones: then the outage ends after `quietMs` without a failure.
 */
export function watchOutages(watcher: OutageWatcher, quietMs: number): Outages {
  let state: "unknown" | "up" | "down" = "unknown";
  let facts: ServerFacts | undefined;
  let failedAt = 0;
  let hasAdmitted = false;
  return {
    admitted(found) {
      facts = found;
      hasAdmitted = true;
    },
    succeeded() {
      if (state === "up" || facts === undefined) return;
      if (!hasAdmitted && performance.now() < failedAt + quietMs) return;
      state = "up";
      watcher.onUp(facts);
    },
    failed(reason) {
      failedAt = performance.now();
      hasAdmitted = false;
      if (state === "down") return;
      state = "down";
      watcher.onDown(reason);
    },
  };
}
