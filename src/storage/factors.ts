import {
  type FactorRecord,
  type FactorStore,
  KEPT_LOGINS,
  KNOWN_NETWORK_MS,
  type LoginRecord,
  MAX_FACTORS,
} from "../auth/factors/store.ts";
import { change, changed, type Query, type QueryPort, row, rows } from "./query.ts";

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

const REMOVE = "DELETE FROM authserve.login_factors WHERE id = $1 RETURNING id";
const REMOVE_ALL = "DELETE FROM authserve.login_factors RETURNING id";
const REMOVE_CODES_OF_NOBODY = `
DELETE FROM authserve.recovery_codes WHERE NOT EXISTS (SELECT 1 FROM authserve.login_factors)`;

/** Writes a use, unless the counter of the factor has not grown: id, counter, time, whether it may be 0 again. */
const USE = `
UPDATE authserve.login_factors SET counter = $2::bigint, last_used_at = $3::bigint
WHERE id = $1 AND (counter < $2::bigint OR ($2::bigint = 0 AND (counter = 0 OR $4::boolean)))`;

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
SELECT $1, $2::bigint, CASE WHEN EXISTS (SELECT 1 FROM authserve.login_networks) THEN $2::bigint END, $3 WHERE true
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

/** Keeps the second factors, recovery codes and recent logins. */
export const factorStore: QueryPort<FactorStore> = {
  list: () => rows<FactorRecord>(LIST),
  *add({ id, kind, name, data, counter, createdAt }) {
    yield* changed(LOCK);
    return (yield* change(ADD, id, kind, name, data, counter, Math.round(createdAt))) === 1;
  },
  *remove(ids) {
    yield* changed(LOCK);
    const removed: string[] = [];
    if (ids === "all") removed.push(...(yield* rows<{ id: string }>(REMOVE_ALL)).map(({ id }) => id).sort());
    else for (const id of ids) removed.push(...(yield* rows<{ id: string }>(REMOVE, id)).map((one) => one.id));
    yield* changed(REMOVE_CODES_OF_NOBODY);
    return removed;
  },
  use: (id, counter, at, mayLoseCounter = false) =>
    change(USE, id, counter, Math.round(at), mayLoseCounter).as((count) => count === 1),
  *setRecoveryCodes(digests) {
    yield* changed(LOCK);
    yield* changed("DELETE FROM authserve.recovery_codes");
    for (const digest of digests) yield* changed("INSERT INTO authserve.recovery_codes (digest) VALUES ($1)", digest);
  },
  spendRecoveryCode: (digest) =>
    change("DELETE FROM authserve.recovery_codes WHERE digest = $1", digest).as((count) => count === 1),
  recoveryCodesLeft: () =>
    row<{ count: number }>("SELECT count(*) AS count FROM authserve.recovery_codes").as((found) => found?.count ?? 0),
  *spend(id, expiresAt, now) {
    yield* changed("DELETE FROM authserve.spent_codes WHERE expires_at <= $1::bigint", Math.round(now));
    return (yield* change(SPEND, id, Math.round(expiresAt))) === 1;
  },
  addLogin: (login) => loginNote(login),
  logins: () => rows<LoginRecord>(LOGINS),
  loginsFromNewNetworks: (since) => rows<Pick<LoginRecord, "sid" | "at" | "network">>(NEW_NETWORKS, Math.round(since)),
};

/** Writes a login, also as a part of a transaction. */
export function* loginNote({ sid, network, userAgent, method, at }: LoginRecord): Query<void> {
  const time = Math.round(at);
  yield* changed(ADD_NETWORK, network, time, sid);
  yield* changed(ADD_LOGIN, sid, time, network, userAgent, method);
  yield* changed(TRIM_LOGINS);
  yield* changed(FORGET_NETWORKS, time);
}
