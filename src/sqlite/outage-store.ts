import type { OutageKind } from "../webhook/outages/outage.ts";
import type { OutageStore } from "../webhook/outages/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

/** Sets the heartbeat: time. */
const BEAT = `
INSERT INTO heartbeats (name, at) VALUES ('intake', ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at`;

/** Keeps an outage, or prolongs it. */
const RECORD = `
INSERT INTO outages (kind, from_at, to_at) VALUES (@kind, @from, @to)
ON CONFLICT (kind, from_at) DO UPDATE SET to_at = max(to_at, excluded.to_at)`;

const LIST = "SELECT kind, from_at AS startedAt, to_at AS endedAt FROM outages WHERE to_at > ? ORDER BY from_at, kind";

/** The synchronous form of the store of outages in the SQLite file. */
export function sqliteOutages(database: Database): SyncPort<OutageStore> {
  const last = database.prepare<[], number>("SELECT at FROM heartbeats WHERE name = 'intake'").pluck();
  const beat = database.prepare(BEAT);
  const record = database.prepare(RECORD);
  const forget = database.prepare("DELETE FROM outages WHERE to_at < ?");
  const list = database.prepare<[number], { kind: OutageKind; startedAt: number; endedAt: number }>(LIST);
  return {
    beat: atomic(database, (at) => {
      const before = last.get() ?? null;
      beat.run(at);
      return before;
    }),
    lastBeat: () => last.get() ?? null,
    record: atomic(database, ({ kind, from, to }, forgetBefore) => {
      forget.run(forgetBefore);
      record.run({ kind, from, to });
    }),
    list: (since) => list.all(since).map(({ kind, startedAt, endedAt }) => ({ kind, from: startedAt, to: endedAt })),
  };
}
