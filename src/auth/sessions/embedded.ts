import { promised, type Sync } from "../../promised.ts";
import { type Database, guarded } from "../../sqlite/database.ts";
import type { SessionRecord, SessionStore } from "./store.ts";

const FIND = `SELECT sid, expires_at AS expiresAt FROM sessions WHERE user_id = ? AND expires_at > ?`;

const REPLACE = `
INSERT INTO sessions (user_id, sid, expires_at) VALUES (@userId, @sid, @expiresAt)
ON CONFLICT (user_id) DO UPDATE SET sid = excluded.sid, expires_at = excluded.expires_at`;

const REMOVE_IF = `DELETE FROM sessions WHERE user_id = @userId AND sid = @sid AND expires_at > @now`;

const REMOVE = `DELETE FROM sessions WHERE user_id = @userId RETURNING expires_at`;

/** Keeps sessions in the SQLite file, where another process's revocation is seen by the next read. */
export function createEmbeddedSessionStore(database: Database, now: () => number = Date.now): SessionStore {
  return promised<SessionStore>(embeddedSessions(database, now));
}

/** The embedded session store, synchronous. */
export function embeddedSessions(database: Database, now: () => number = Date.now): Sync<SessionStore> {
  const find = database.prepare<[string, number], SessionRecord>(FIND);
  const replace = database.prepare(REPLACE);
  const removeIf = database.prepare(REMOVE_IF);
  const remove = database.prepare<{ userId: string }, { expires_at: number }>(REMOVE);

  const replaceLive = database.transaction((userId: string, sid: string, at: number, expiresAt: number) => {
    const replaced = find.get(userId, at) !== undefined;
    replace.run({ userId, sid, expiresAt });
    return replaced;
  });

  return {
    replace(userId, sid, ttlSeconds) {
      const at = now();
      return guarded(() => replaceLive.immediate(userId, sid, at, at + ttlSeconds * 1000));
    },
    current(userId) {
      return guarded(() => find.get(userId, now())?.sid ?? null);
    },
    find(userId) {
      return guarded(() => find.get(userId, now()) ?? null);
    },
    removeIf(userId, sid) {
      return guarded(() => removeIf.run({ userId, sid, now: now() }).changes === 1);
    },
    remove(userId) {
      const removed = guarded(() => remove.get({ userId }));
      return removed !== undefined && removed.expires_at > now();
    },
    check() {
      guarded(() => find.get("", 0));
    },
    // The database belongs to whoever opened it.
    close() {},
  };
}
