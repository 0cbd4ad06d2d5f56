import { recordOf, type TokenRow, type TokenStore, USE_EVERY_MS } from "../auth/machine-tokens/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

const COLUMNS = `
name, scopes, created_at AS createdAt, expires_at AS expiresAt, last_used_at AS lastUsedAt, last_network AS lastNetwork`;

const CREATE = `
INSERT INTO machine_tokens (name, digest, scopes, created_at, expires_at)
VALUES (@name, @digest, @scopes, @createdAt, @expiresAt) ON CONFLICT (name) DO NOTHING`;

const LIST = `SELECT ${COLUMNS} FROM machine_tokens ORDER BY name`;
const FIND = `SELECT ${COLUMNS} FROM machine_tokens WHERE digest = ?`;

/** Writes a use, unless another one was written after a time, or later than now by a clock that was wrong. */
const USE = `
UPDATE machine_tokens SET last_used_at = @at, last_network = @network
WHERE name = @name AND (last_used_at IS NULL OR last_used_at <= @at - ${USE_EVERY_MS} OR last_used_at > @at)`;

const REVOKE = "DELETE FROM machine_tokens WHERE name = ? RETURNING name";
const REVOKE_ALL = "DELETE FROM machine_tokens RETURNING name";

/** The synchronous form of the token store in the SQLite file. */
export function sqliteTokens(database: Database): SyncPort<TokenStore> {
  const create = database.prepare(CREATE);
  const list = database.prepare<[], TokenRow>(LIST);
  const find = database.prepare<[string], TokenRow>(FIND);
  const use = database.prepare(USE);
  const revoke = database.prepare<[string], string>(REVOKE).pluck();
  const revokeAll = database.prepare<[], string>(REVOKE_ALL).pluck();

  return {
    create: ({ scopes, ...token }) => create.run({ ...token, scopes: scopes.join(" ") }).changes === 1,
    list: () => list.all().map(recordOf),
    find(digest) {
      const row = find.get(digest);
      return row === undefined ? null : recordOf(row);
    },
    use: (name, at, network) => void use.run({ name, at, network }),
    revoke: atomic(database, (names) =>
      names === "all" ? revokeAll.all().sort() : names.flatMap((name) => revoke.get(name) ?? []),
    ),
  };
}
