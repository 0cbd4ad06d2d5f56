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

/**
 * The statements on the tables of the person of the environment, or on those of the others. The first have no account:
 * versions from before there were others still use them, beside this one.
 */
function statementsFor(isEnvironment: boolean) {
  const [factors, codes, logins, networks] = (
    isEnvironment
      ? ["login_factors", "recovery_codes", "logins", "login_networks"]
      : ["person_factors", "person_codes", "person_logins", "person_networks"]
  ).map((name) => `authserve.${name}`);
  const isOwn = isEnvironment ? "$1::text = ''" : "account = $1";
  // What an insertion begins with.
  const [column, value] = isEnvironment ? ["", ""] : ["account, ", "$1, "];
  return {
    list: `SELECT ${COLUMNS} FROM ${factors} WHERE ${isOwn} ORDER BY created_at, id`,
    /** What changes factors or recovery codes waits for others that do. */
    lock: `LOCK TABLE ${factors} IN SHARE ROW EXCLUSIVE MODE`,
    /** Adds a factor: account, id, kind, name, data, counter, time. */
    add: `
INSERT INTO ${factors} (${column}id, kind, name, data, counter, created_at)
SELECT ${value}$2, $3, $4, $5, $6::bigint, $7::bigint
WHERE (SELECT count(*) FROM ${factors} WHERE ${isOwn}) < ${MAX_FACTORS}
ON CONFLICT (id) DO NOTHING`,
    remove: `DELETE FROM ${factors} WHERE ${isOwn} AND id = $2 RETURNING id`,
    removeAll: `DELETE FROM ${factors} WHERE ${isOwn} RETURNING id`,
    removeCodesOfNobody: `
DELETE FROM ${codes} WHERE ${isOwn} AND NOT EXISTS (SELECT 1 FROM ${factors} WHERE ${isOwn})`,
    /** Writes a use, unless the counter has not grown: account, id, counter, time, whether it may be 0 again. */
    use: `
UPDATE ${factors} SET counter = $3::bigint, last_used_at = $4::bigint
WHERE ${isOwn} AND id = $2 AND (counter < $3::bigint OR ($3::bigint = 0 AND (counter = 0 OR $5::boolean)))`,
    removeCodes: `DELETE FROM ${codes} WHERE ${isOwn}`,
    addCode: `INSERT INTO ${codes} (${column}digest) SELECT ${value}$2 WHERE $1::text = $1`,
    spendCode: `DELETE FROM ${codes} WHERE ${isOwn} AND digest = $2`,
    countCodes: `SELECT count(*) AS count FROM ${codes} WHERE ${isOwn}`,
    /** Adds a login: account, session, time, network, product, method. */
    addLogin: `
INSERT INTO ${logins} (${column}sid, at, network, user_agent, method)
SELECT ${value}$2, $3::bigint, $4, $5, $6 WHERE $1::text = $1
ON CONFLICT (sid) DO NOTHING`,
    trimLogins: `
DELETE FROM ${logins} WHERE ${isOwn}
AND sid NOT IN (SELECT sid FROM ${logins} WHERE ${isOwn} ORDER BY at DESC, sid LIMIT ${KEPT_LOGINS})`,
    /** Notes the network of a login, and whether it is new: account, network, time, session. The first one is not. */
    addNetwork: `
INSERT INTO ${networks} AS known (${column}network, last_at, new_at, sid)
SELECT ${value}$2, $3::bigint, CASE WHEN EXISTS (SELECT 1 FROM ${networks} WHERE ${isOwn}) THEN $3::bigint END, $4
WHERE true
ON CONFLICT (${column}network) DO UPDATE SET
  new_at = CASE WHEN known.last_at < $3::bigint - ${KNOWN_NETWORK_MS} THEN $3::bigint ELSE known.new_at END,
  sid = CASE WHEN known.last_at < $3::bigint - ${KNOWN_NETWORK_MS} THEN $4 ELSE known.sid END,
  last_at = $3::bigint`,
    forgetNetworks: `DELETE FROM ${networks} WHERE last_at < $1::bigint - ${KNOWN_NETWORK_MS}`,
    logins: `
SELECT sid, at, network, user_agent AS "userAgent", method FROM ${logins} WHERE ${isOwn} ORDER BY at DESC, sid`,
  };
}

const [OF_ENVIRONMENT, OF_OTHERS] = [statementsFor(true), statementsFor(false)];

const statementsOf = (account: string) => (account === "" ? OF_ENVIRONMENT : OF_OTHERS);

const LIST_ALL = `
SELECT '' AS account, ${COLUMNS} FROM authserve.login_factors
UNION ALL SELECT account, ${COLUMNS} FROM authserve.person_factors
ORDER BY "createdAt", id`;

/** Uses up what works once: id, expiry. */
const SPEND = `
INSERT INTO authserve.spent_codes (id, expires_at) VALUES ($1, $2::bigint) ON CONFLICT (id) DO NOTHING`;

const NEW_NETWORKS = `
SELECT '' AS account, sid, new_at AS at, network FROM authserve.login_networks WHERE new_at >= $1::bigint
UNION ALL SELECT account, sid, new_at AS at, network FROM authserve.person_networks WHERE new_at >= $1::bigint
ORDER BY at DESC, account, network`;

/** Keeps the second factors, recovery codes and recent logins. */
export const factorStore: QueryPort<FactorStores> = {
  list: (account) => rows<FactorRecord>(statementsOf(account).list, account),
  listAll: () => rows<OwnedFactor>(LIST_ALL),
  *add(account, { id, kind, name, data, counter, createdAt }) {
    const { lock, add } = statementsOf(account);
    yield* changed(lock);
    return (yield* change(add, account, id, kind, name, data, counter, Math.round(createdAt))) === 1;
  },
  *remove(account, ids) {
    const { lock, remove, removeAll, removeCodesOfNobody } = statementsOf(account);
    yield* changed(lock);
    const removed: string[] = [];
    if (ids === "all") removed.push(...(yield* rows<{ id: string }>(removeAll, account)).map(({ id }) => id).sort());
    else for (const id of ids) removed.push(...(yield* rows<{ id: string }>(remove, account, id)).map((one) => one.id));
    yield* changed(removeCodesOfNobody, account);
    return removed;
  },
  use: (account, id, counter, at, mayLoseCounter = false) =>
    change(statementsOf(account).use, account, id, counter, Math.round(at), mayLoseCounter).as((count) => count === 1),
  *setRecoveryCodes(account, digests) {
    const { lock, removeCodes, addCode } = statementsOf(account);
    yield* changed(lock);
    yield* changed(removeCodes, account);
    for (const digest of digests) yield* changed(addCode, account, digest);
  },
  spendRecoveryCode: (account, digest) =>
    change(statementsOf(account).spendCode, account, digest).as((count) => count === 1),
  recoveryCodesLeft: (account) =>
    row<{ count: number }>(statementsOf(account).countCodes, account).as((found) => found?.count ?? 0),
  *spend(id, expiresAt, now) {
    yield* changed("DELETE FROM authserve.spent_codes WHERE expires_at <= $1::bigint", Math.round(now));
    return (yield* change(SPEND, id, Math.round(expiresAt))) === 1;
  },
  addLogin: (account, login) => loginNote(account, login),
  logins: (account) => rows<LoginRecord>(statementsOf(account).logins, account),
  loginsFromNewNetworks: (since) =>
    rows<Pick<LoginRecord, "sid" | "at" | "network"> & { account: string }>(NEW_NETWORKS, Math.round(since)),
};

/** Writes a login of an account, also as a part of a transaction. */
export function* loginNote(account: string, { sid, network, userAgent, method, at }: LoginRecord): Query<void> {
  const { addNetwork, addLogin, trimLogins, forgetNetworks } = statementsOf(account);
  const time = Math.round(at);
  yield* changed(addNetwork, account, network, time, sid);
  yield* changed(addLogin, account, sid, time, network, userAgent, method);
  yield* changed(trimLogins, account);
  yield* changed(forgetNetworks, time);
}
