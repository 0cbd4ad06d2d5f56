import {
  type FactorRecord,
  type FactorStore,
  KEPT_LOGINS,
  KNOWN_NETWORK_MS,
  type LoginRecord,
  MAX_FACTORS,
} from "../auth/factors/store.ts";
import type { Postgres, Queries } from "./connection.ts";
import { storable, texts } from "./values.ts";

const LIST = `
SELECT id, kind, name, data, counter, created_at AS "createdAt", last_used_at AS "lastUsedAt"
FROM authserve.login_factors ORDER BY created_at, id`;

/** What changes factors or recovery codes waits for others that do. */
const LOCK = "LOCK TABLE authserve.login_factors IN SHARE ROW EXCLUSIVE MODE";

/** Adds a factor: id, kind, name, data, counter, time. */
const ADD = `
INSERT INTO authserve.login_factors (id, kind, name, data, counter, created_at)
SELECT $1, $2, $3, $4, $5::bigint, $6::bigint WHERE (SELECT count(*) FROM authserve.login_factors) < ${MAX_FACTORS}
ON CONFLICT (id) DO NOTHING`;

/** Removes factors: ids; null removes all. */
const REMOVE = `
DELETE FROM authserve.login_factors WHERE $1::text[] IS NULL OR id = ANY($1::text[]) RETURNING id`;
const REMOVE_CODES_OF_NOBODY = `
DELETE FROM authserve.recovery_codes WHERE NOT EXISTS (SELECT 1 FROM authserve.login_factors)`;

/** Writes a use, unless the counter of the factor has not grown: id, counter, time, whether it may be 0 again. */
const USE = `
UPDATE authserve.login_factors SET counter = $2::bigint, last_used_at = $3::bigint
WHERE id = $1 AND (counter < $2::bigint OR ($2::bigint = 0 AND (counter = 0 OR $4::boolean)))`;

const ADD_CODES = "INSERT INTO authserve.recovery_codes (digest) SELECT unnest($1::text[])";

/** Uses up what works once: id, expiry. */
const SPEND = `
INSERT INTO authserve.spent_codes (id, expires_at) VALUES ($1, $2::bigint) ON CONFLICT (id) DO NOTHING`;

/** Adds a login: session, time, network, product, method. */
const ADD_LOGIN = `
INSERT INTO authserve.logins (sid, at, network, user_agent, method) VALUES ($1, $2::bigint, $3, $4, $5)
ON CONFLICT (sid) DO NOTHING`;
const TRIM_LOGINS = `
DELETE FROM authserve.logins
WHERE sid NOT IN (SELECT sid FROM authserve.logins ORDER BY at DESC, sid LIMIT ${KEPT_LOGINS})`;

/** Notes the network of a login, and whether it is new: network, time, session. The first network of all is not. */
const ADD_NETWORK = `
INSERT INTO authserve.login_networks AS known (network, last_at, new_at, sid)
SELECT $1, $2::bigint, CASE WHEN EXISTS (SELECT 1 FROM authserve.login_networks) THEN $2::bigint END, $3
ON CONFLICT (network) DO UPDATE SET
  new_at = CASE WHEN known.last_at < $2::bigint - ${KNOWN_NETWORK_MS} THEN $2::bigint ELSE known.new_at END,
  sid = CASE WHEN known.last_at < $2::bigint - ${KNOWN_NETWORK_MS} THEN $3 ELSE known.sid END,
  last_at = $2::bigint`;
const FORGET_NETWORKS = `DELETE FROM authserve.login_networks WHERE last_at < $1::bigint - ${KNOWN_NETWORK_MS}`;

const LOGINS = `
SELECT sid, at, network, user_agent AS "userAgent", method FROM authserve.logins ORDER BY at DESC, sid`;
const NEW_NETWORKS = `
SELECT sid, new_at AS at, network FROM authserve.login_networks WHERE new_at >= $1::bigint
ORDER BY new_at DESC, network`;

/** Writes a login in a transaction. */
export async function addLogin(queries: Queries, login: LoginRecord): Promise<void> {
  const { sid, network, userAgent, method } = login;
  const time = Math.round(login.at);
  await queries.run(ADD_NETWORK, [network, time, sid]);
  await queries.run(ADD_LOGIN, [sid, time, network, userAgent, method]);
  await queries.run(TRIM_LOGINS);
  await queries.run(FORGET_NETWORKS, [time]);
}

/** Keeps the second factors and the recent logins in PostgreSQL. */
export function createPostgresFactorStore(postgres: Postgres): FactorStore {
  return {
    list: () => postgres.rows<FactorRecord>(LIST),
    add: ({ id, kind, name, data, counter, createdAt }) =>
      postgres.transaction(async (queries) => {
        await queries.run(LOCK);
        const values = [id, kind, storable(name), data, counter, Math.round(createdAt)];
        return (await queries.run(ADD, values)) === 1;
      }),
    remove: (ids) =>
      postgres.transaction(async (queries) => {
        await queries.run(LOCK);
        const rows = await queries.rows<{ id: string }>(REMOVE, [ids === "all" ? null : texts(ids)]);
        await queries.run(REMOVE_CODES_OF_NOBODY);
        const removed = rows.map(({ id }) => id);
        return ids === "all" ? removed.sort() : ids.filter((id) => removed.includes(id));
      }),
    use: async (id, counter, at, mayLoseCounter = false) =>
      (await postgres.run(USE, [id, counter, Math.round(at), mayLoseCounter])) === 1,
    setRecoveryCodes: (digests) =>
      postgres.transaction(async (queries) => {
        await queries.run(LOCK);
        await queries.run("DELETE FROM authserve.recovery_codes");
        await queries.run(ADD_CODES, [texts(digests)]);
      }),
    spendRecoveryCode: async (digest) =>
      (await postgres.run("DELETE FROM authserve.recovery_codes WHERE digest = $1", [digest])) === 1,
    async recoveryCodesLeft() {
      const [row] = await postgres.rows<{ count: number }>("SELECT count(*) AS count FROM authserve.recovery_codes");
      return row?.count ?? 0;
    },
    async spend(id, expiresAt, now) {
      await postgres.run("DELETE FROM authserve.spent_codes WHERE expires_at <= $1::bigint", [Math.round(now)]);
      return (await postgres.run(SPEND, [id, Math.round(expiresAt)])) === 1;
    },
    addLogin: (login) => postgres.transaction((queries) => addLogin(queries, login)),
    logins: () => postgres.rows<LoginRecord>(LOGINS),
    loginsFromNewNetworks: (since) => postgres.rows(NEW_NETWORKS, [Math.round(since)]),
  };
}
