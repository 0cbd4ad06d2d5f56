import {
  type FactorRecord,
  type FactorStores,
  KEPT_LOGINS,
  KNOWN_NETWORK_MS,
  type LoginRecord,
  MAX_FACTORS,
  type OwnedFactor,
} from "../auth/factors/store.ts";
import { change, changed, type Query, type QueryPort, row, rows } from "./query.ts";

const COLUMNS = `id, kind, name, data, counter, created_at AS "createdAt", last_used_at AS "lastUsedAt"`;
const LIST = `SELECT ${COLUMNS} FROM authserve.login_factors WHERE account = $1 ORDER BY created_at, id`;
const LIST_ALL = `SELECT account, ${COLUMNS} FROM authserve.login_factors ORDER BY created_at, id`;

/** What changes factors or recovery codes waits for others that do. */
const LOCK = "LOCK TABLE authserve.login_factors IN SHARE ROW EXCLUSIVE MODE";

/** Adds a factor: account, id, kind, name, data, counter, time. */
const ADD = `
INSERT INTO authserve.login_factors (account, id, kind, name, data, counter, created_at)
SELECT $1, $2, $3, $4, $5, $6::bigint, $7::bigint
WHERE (SELECT count(*) FROM authserve.login_factors WHERE account = $1) < ${MAX_FACTORS}
ON CONFLICT (id) DO NOTHING`;

const REMOVE = "DELETE FROM authserve.login_factors WHERE account = $1 AND id = $2 RETURNING id";
const REMOVE_ALL = "DELETE FROM authserve.login_factors WHERE account = $1 RETURNING id";
const REMOVE_CODES_OF_NOBODY = `
DELETE FROM authserve.recovery_codes
WHERE account = $1 AND NOT EXISTS (SELECT 1 FROM authserve.login_factors WHERE account = $1)`;

/** Writes a use, unless the counter has not grown: account, id, counter, time, whether it may be 0 again. */
const USE = `
UPDATE authserve.login_factors SET counter = $3::bigint, last_used_at = $4::bigint
WHERE account = $1 AND id = $2 AND (counter < $3::bigint OR ($3::bigint = 0 AND (counter = 0 OR $5::boolean)))`;

/** Uses up what works once: id, expiry. */
const SPEND = `
INSERT INTO authserve.spent_codes (id, expires_at) VALUES ($1, $2::bigint) ON CONFLICT (id) DO NOTHING`;

/** Adds a login: account, session, time, network, product, method. */
const ADD_LOGIN = `
INSERT INTO authserve.logins (account, sid, at, network, user_agent, method) VALUES ($1, $2, $3::bigint, $4, $5, $6)
ON CONFLICT (sid) DO NOTHING`;
const TRIM_LOGINS = `
DELETE FROM authserve.logins WHERE account = $1 AND sid NOT IN
  (SELECT sid FROM authserve.logins WHERE account = $1 ORDER BY at DESC, sid LIMIT ${KEPT_LOGINS})`;

/** Notes the network of a login, and whether it is new: account, network, time, session. The first one is not. */
const ADD_NETWORK = `
INSERT INTO authserve.login_networks AS known (account, network, last_at, new_at, sid)
SELECT $1, $2, $3::bigint,
  CASE WHEN EXISTS (SELECT 1 FROM authserve.login_networks WHERE account = $1) THEN $3::bigint END, $4
WHERE true
ON CONFLICT (account, network) DO UPDATE SET
  new_at = CASE WHEN known.last_at < $3::bigint - ${KNOWN_NETWORK_MS} THEN $3::bigint ELSE known.new_at END,
  sid = CASE WHEN known.last_at < $3::bigint - ${KNOWN_NETWORK_MS} THEN $4 ELSE known.sid END,
  last_at = $3::bigint`;
const FORGET_NETWORKS = `DELETE FROM authserve.login_networks WHERE last_at < $1::bigint - ${KNOWN_NETWORK_MS}`;

const LOGINS = `
SELECT sid, at, network, user_agent AS "userAgent", method FROM authserve.logins WHERE account = $1
ORDER BY at DESC, sid`;
const NEW_NETWORKS = `
SELECT account, sid, new_at AS at, network FROM authserve.login_networks WHERE new_at >= $1::bigint
ORDER BY new_at DESC, account, network`;

/** Keeps the second factors, recovery codes and recent logins. */
export const factorStore: QueryPort<FactorStores> = {
  list: (account) => rows<FactorRecord>(LIST, account),
  listAll: () => rows<OwnedFactor>(LIST_ALL),
  *add(account, { id, kind, name, data, counter, createdAt }) {
    yield* changed(LOCK);
    return (yield* change(ADD, account, id, kind, name, data, counter, Math.round(createdAt))) === 1;
  },
  *remove(account, ids) {
    yield* changed(LOCK);
    const removed: string[] = [];
    if (ids === "all") removed.push(...(yield* rows<{ id: string }>(REMOVE_ALL, account)).map(({ id }) => id).sort());
    else for (const id of ids) removed.push(...(yield* rows<{ id: string }>(REMOVE, account, id)).map((one) => one.id));
    yield* changed(REMOVE_CODES_OF_NOBODY, account);
    return removed;
  },
  use: (account, id, counter, at, mayLoseCounter = false) =>
    change(USE, account, id, counter, Math.round(at), mayLoseCounter).as((count) => count === 1),
  *setRecoveryCodes(account, digests) {
    yield* changed(LOCK);
    yield* changed("DELETE FROM authserve.recovery_codes WHERE account = $1", account);
    for (const digest of digests)
      yield* changed("INSERT INTO authserve.recovery_codes (account, digest) VALUES ($1, $2)", account, digest);
  },
  spendRecoveryCode: (account, digest) =>
    change("DELETE FROM authserve.recovery_codes WHERE account = $1 AND digest = $2", account, digest).as(
      (count) => count === 1,
    ),
  recoveryCodesLeft: (account) =>
    row<{ count: number }>("SELECT count(*) AS count FROM authserve.recovery_codes WHERE account = $1", account).as(
      (found) => found?.count ?? 0,
    ),
  *spend(id, expiresAt, now) {
    yield* changed("DELETE FROM authserve.spent_codes WHERE expires_at <= $1::bigint", Math.round(now));
    return (yield* change(SPEND, id, Math.round(expiresAt))) === 1;
  },
  addLogin: (account, login) => loginNote(account, login),
  logins: (account) => rows<LoginRecord>(LOGINS, account),
  loginsFromNewNetworks: (since) =>
    rows<Pick<LoginRecord, "sid" | "at" | "network"> & { account: string }>(NEW_NETWORKS, Math.round(since)),
};

/** Writes a login of an account, also as a part of a transaction. */
export function* loginNote(account: string, { sid, network, userAgent, method, at }: LoginRecord): Query<void> {
  const time = Math.round(at);
  yield* changed(ADD_NETWORK, account, network, time, sid);
  yield* changed(ADD_LOGIN, account, sid, time, network, userAgent, method);
  yield* changed(TRIM_LOGINS, account);
  yield* changed(FORGET_NETWORKS, time);
}
