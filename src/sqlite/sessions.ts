import { type LoginNotes, type LoginOrigin, recordOf, type SessionRow, type SessionStore } from "../auth/sessions.ts";
import { describeError } from "../errors.ts";
import { loginNote } from "../storage/factors.ts";
import { runSync } from "../storage/query.ts";
import { asAsync, type SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { createMetadata } from "./metadata.ts";
import { createRun } from "./queries.ts";
import { sqliteFailures } from "./throttle.ts";

/** Keeps sessions in the SQLite file. The next read sees a revocation by another process. */
export function createSqliteSessionStore(database: Database, now: () => number = Date.now): SessionStore {
  return asAsync<SessionStore>(sqliteSessions(database, now));
}

/** The synchronous form of the session store in the SQLite file. */
export function sqliteSessions(database: Database, now: () => number = Date.now): SyncPort<SessionStore> {
  const find = database.prepare<[string, number], SessionRow>(`
    SELECT session.sid, expires_at AS expiresAt, network, user_agent AS userAgent, public_key AS publicKey,
      challenged_at AS challengedAt, bound_from AS boundFrom
    FROM sessions AS session
    LEFT JOIN session_devices AS device ON device.user_id = session.user_id AND device.sid = session.sid
    WHERE session.user_id = ? AND expires_at > ?`);
  const replace = database.prepare(`
    INSERT INTO sessions (user_id, sid, expires_at, network, user_agent)
    VALUES (@userId, @sid, @expiresAt, @network, @userAgent)
    ON CONFLICT (user_id) DO UPDATE SET sid = excluded.sid, expires_at = excluded.expires_at,
      network = excluded.network, user_agent = excluded.user_agent`);
  // Prolongs a live session if it still has this sid, so that a login in between is not touched.
  const extendIf = database.prepare(`
    UPDATE sessions SET expires_at = max(expires_at, @expiresAt)
    WHERE user_id = @userId AND sid = @sid AND expires_at > @now`);
  // Replaces the device of an earlier session, and never that of this one.
  const registerDevice = database.prepare(`
    INSERT INTO session_devices (user_id, sid, public_key)
    SELECT user_id, sid, @publicKey FROM sessions WHERE user_id = @userId AND sid = @sid AND expires_at > @now
    ON CONFLICT (user_id) DO UPDATE SET
      sid = excluded.sid, public_key = excluded.public_key, challenged_at = 0, bound_from = NULL
    WHERE session_devices.sid <> excluded.sid`);
  // Each challenge counts once: the next one must be newer.
  const proveDevice = database.prepare(`
    UPDATE session_devices SET challenged_at = @challengedAt, bound_from = coalesce(bound_from, @boundFrom)
    WHERE user_id = @userId AND sid = @sid AND challenged_at < @challengedAt
      AND EXISTS (SELECT 1 FROM sessions WHERE user_id = @userId AND sid = @sid AND expires_at > @now)`);
  // Deletes a live session if it still has this sid, so that a login in between stays alive.
  const removeIf = database.prepare(
    "DELETE FROM sessions WHERE user_id = @userId AND sid = @sid AND expires_at > @now",
  );
  // The expiry tells whether it was live.
  const remove = database.prepare<{ userId: string }, { expires_at: number }>(
    "DELETE FROM sessions WHERE user_id = @userId RETURNING expires_at",
  );
  const supersede = database.prepare(`
    INSERT INTO supersessions (user_id, sid, at, network, user_agent, expires_at)
    VALUES (@userId, @sid, @at, @network, @userAgent, @expiresAt)
    ON CONFLICT (user_id, sid) DO NOTHING`);
  const supersession = database.prepare<[string, string, number], { at: number } & LoginOrigin>(
    "SELECT at, network, user_agent AS userAgent FROM supersessions WHERE user_id = ? AND sid = ? AND expires_at > ?",
  );
  const forget = database.prepare("DELETE FROM supersessions WHERE expires_at <= ?");
  const metadata = createMetadata(database);
  const run = createRun(database);
  let failures: ReturnType<typeof sqliteFailures>;

  const note = atomic(database, ({ login, account, knownBucket }: LoginNotes) => {
    // Most stores of sessions are only read, or serve one command.
    failures ??= sqliteFailures(database);
    runSync(loginNote(account, login), run);
    if (knownBucket !== null) failures.remember(knownBucket, login.at);
  });
  function tryToNote(notes: LoginNotes): string | null {
    try {
      note(notes);
      return null;
    } catch (error) {
      // A full disk may have rolled back the whole transaction.
      if (!database.inTransaction) throw error;
      return describeError(error);
    }
  }
  const replaceLive: SyncPort<SessionStore>["replace"] = atomic(database, (userId, sid, ttlSeconds, origin, notes) => {
    const at = now();
    const old = find.get(userId, at);
    forget.run(at);
    if (old && origin) supersede.run({ userId, sid: old.sid, at, ...origin, expiresAt: old.expiresAt });
    const { network = null, userAgent = null } = origin ?? {};
    replace.run({ userId, sid, expiresAt: at + ttlSeconds * 1000, network, userAgent });
    return { wasLive: old !== undefined, lostNotes: notes === undefined ? null : tryToNote(notes) };
  });
  function removeLive(userId: string): boolean {
    const removed = remove.get({ userId });
    return removed !== undefined && removed.expires_at > now();
  }
  const bind = atomic(database, (userId: string, credential: string) => {
    const key = `credential:${userId}`;
    if (metadata.get(key) === credential) return false;
    metadata.set(key, credential);
    return removeLive(userId);
  });

  return {
    replace: replaceLive,
    current: (userId) => find.get(userId, now())?.sid ?? null,
    find(userId) {
      const row = find.get(userId, now());
      return row === undefined ? null : recordOf(row);
    },
    extendIf(userId, sid, ttlSeconds) {
      const at = now();
      return extendIf.run({ userId, sid, now: at, expiresAt: at + ttlSeconds * 1000 }).changes === 1;
    },
    registerDevice: (userId, sid, publicKey) =>
      registerDevice.run({ userId, sid, publicKey, now: now() }).changes === 1,
    proveDevice: (userId, sid, challengedAt, boundFrom) =>
      proveDevice.run({ userId, sid, challengedAt, boundFrom, now: now() }).changes === 1,
    supersession(userId, sid) {
      const row = supersession.get(userId, sid, now());
      return row === undefined ? null : { at: row.at, by: { network: row.network, userAgent: row.userAgent } };
    },
    removeIf: (userId, sid) => removeIf.run({ userId, sid, now: now() }).changes === 1,
    remove: removeLive,
    bind,
    check: () => void find.get("", 0),
  };
}
