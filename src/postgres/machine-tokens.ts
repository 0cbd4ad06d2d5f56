import { recordOf, type TokenRow, type TokenStore, USE_EVERY_MS } from "../auth/machine-tokens/store.ts";
import type { Postgres } from "./connection.ts";
import { texts } from "./values.ts";

const COLUMNS = `
name, scopes, created_at AS "createdAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt",
last_network AS "lastNetwork"`;

/** Adds a token: name, digest, scopes, time, expiry. */
const CREATE = `
INSERT INTO authserve.machine_tokens (name, digest, scopes, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (name) DO NOTHING`;

const LIST = `SELECT ${COLUMNS} FROM authserve.machine_tokens ORDER BY name`;
const FIND = `SELECT ${COLUMNS} FROM authserve.machine_tokens WHERE digest = $1`;

/** Writes a use, unless another one was written after a time, or later than now by a clock that was wrong. */
const USE = `
UPDATE authserve.machine_tokens SET last_used_at = $2::bigint, last_network = $3
WHERE name = $1 AND (last_used_at IS NULL OR last_used_at <= $2::bigint - ${USE_EVERY_MS} OR last_used_at > $2::bigint)`;

/** Removes tokens: names; null removes all. */
const REVOKE = `
DELETE FROM authserve.machine_tokens WHERE $1::text[] IS NULL OR name = ANY($1::text[]) RETURNING name`;

/** Keeps the tokens of programs in PostgreSQL. */
export function createPostgresTokenStore(postgres: Postgres): TokenStore {
  return {
    async create({ name, digest, scopes, createdAt, expiresAt }) {
      const values = [name, digest, scopes.join(" "), Math.round(createdAt), expiresAt && Math.round(expiresAt)];
      return (await postgres.run(CREATE, values)) === 1;
    },
    list: async () => (await postgres.rows<TokenRow>(LIST)).map(recordOf),
    async find(digest) {
      const [row] = await postgres.rows<TokenRow>(FIND, [digest]);
      return row === undefined ? null : recordOf(row);
    },
    use: async (name, at, network) => void (await postgres.run(USE, [name, Math.round(at), network])),
    async revoke(names) {
      const rows = await postgres.rows<{ name: string }>(REVOKE, [names === "all" ? null : texts(names)]);
      return rows.map(({ name }) => name).sort();
    },
  };
}
