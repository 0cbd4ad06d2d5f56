import { recordOf, type TokenRow, type TokenStore, USE_EVERY_MS } from "../auth/machine-tokens/store.ts";
import { change, changed, type QueryPort, row, rows } from "./query.ts";

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

const REVOKE = "DELETE FROM authserve.machine_tokens WHERE name = $1 RETURNING name";
const REVOKE_ALL = "DELETE FROM authserve.machine_tokens RETURNING name";

/** Keeps the tokens of programs. */
export const tokenStore: QueryPort<TokenStore> = {
  create: ({ name, digest, scopes, createdAt, expiresAt }) =>
    change(CREATE, name, digest, scopes.join(" "), Math.round(createdAt), expiresAt && Math.round(expiresAt)).as(
      (count) => count === 1,
    ),
  list: () => rows<TokenRow>(LIST).as((found) => found.map(recordOf)),
  find: (digest) => row<TokenRow>(FIND, digest).as((found) => (found === undefined ? null : recordOf(found))),
  use: (name, at, network) => changed(USE, name, Math.round(at), network),
  *revoke(names) {
    if (names === "all") return (yield* rows<{ name: string }>(REVOKE_ALL)).map(({ name }) => name).sort();
    const revoked: string[] = [];
    for (const name of names) revoked.push(...(yield* rows<{ name: string }>(REVOKE, name)).map((one) => one.name));
    return revoked.sort();
  },
};
