import {
  type FactorRecord,
  type FactorStore,
  KEPT_LOGINS,
  KNOWN_NETWORK_MS,
  type LoginRecord,
  MAX_FACTORS,
} from "../auth/factors/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

const LIST = `
SELECT id, kind, name, data, counter, created_at AS createdAt, last_used_at AS lastUsedAt FROM login_factors
ORDER BY created_at, id`;

const ADD = `
INSERT INTO login_factors (id, kind, name, data, counter, created_at)
SELECT @id, @kind, @name, @data, @counter, @createdAt WHERE (SELECT count(*) FROM login_factors) < ${MAX_FACTORS}
ON CONFLICT (id) DO NOTHING`;

const REMOVE = "DELETE FROM login_factors WHERE id = ? RETURNING id";
const REMOVE_ALL = "DELETE FROM login_factors RETURNING id";
const REMOVE_CODES_OF_NOBODY = "DELETE FROM recovery_codes WHERE NOT EXISTS (SELECT 1 FROM login_factors)";

/** Writes a use, unless the counter of the factor has not grown. */
const USE = `
UPDATE login_factors SET counter = @counter, last_used_at = @at
WHERE id = @id AND (counter < @counter OR (@counter = 0 AND (counter = 0 OR @mayLoseCounter)))`;

const SPEND = "INSERT INTO spent_codes (id, expires_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING";

const ADD_LOGIN = `
INSERT INTO logins (sid, at, network, user_agent, method) VALUES (@sid, @at, @network, @userAgent, @method)
ON CONFLICT (sid) DO NOTHING`;
const TRIM_LOGINS = `
DELETE FROM logins WHERE sid NOT IN (SELECT sid FROM logins ORDER BY at DESC, sid LIMIT ${KEPT_LOGINS})`;

/** Notes the network of a login, and whether it is new. The first network of all is not. */
const ADD_NETWORK = `
INSERT INTO login_networks (network, last_at, new_at, sid)
SELECT @network, @at, iif(EXISTS (SELECT 1 FROM login_networks), @at, NULL), @sid WHERE true
ON CONFLICT (network) DO UPDATE SET
  new_at = iif(last_at < @at - ${KNOWN_NETWORK_MS}, @at, new_at),
  sid = iif(last_at < @at - ${KNOWN_NETWORK_MS}, @sid, sid),
  last_at = @at`;
const FORGET_NETWORKS = `DELETE FROM login_networks WHERE last_at < ? - ${KNOWN_NETWORK_MS}`;

const LOGINS = "SELECT sid, at, network, user_agent AS userAgent, method FROM logins ORDER BY at DESC, sid";
const NEW_NETWORKS =
  "SELECT sid, new_at AS at, network FROM login_networks WHERE new_at >= ? ORDER BY new_at DESC, network";

/** The synchronous form of the store of second factors in the SQLite file. */
export function sqliteFactors(database: Database): SyncPort<FactorStore> {
  const list = database.prepare<[], FactorRecord>(LIST);
  const add = database.prepare(ADD);
  const remove = database.prepare<[string], string>(REMOVE).pluck();
  const removeAll = database.prepare<[], string>(REMOVE_ALL).pluck();
  const removeCodesOfNobody = database.prepare(REMOVE_CODES_OF_NOBODY);
  const use = database.prepare(USE);
  const removeCodes = database.prepare("DELETE FROM recovery_codes");
  const addCode = database.prepare("INSERT INTO recovery_codes (digest) VALUES (?)");
  const spendCode = database.prepare("DELETE FROM recovery_codes WHERE digest = ?");
  const countCodes = database.prepare<[], number>("SELECT count(*) FROM recovery_codes").pluck();
  const forgetSpent = database.prepare("DELETE FROM spent_codes WHERE expires_at <= ?");
  const spend = database.prepare(SPEND);
  const addLogin = database.prepare(ADD_LOGIN);
  const trimLogins = database.prepare(TRIM_LOGINS);
  const addNetwork = database.prepare(ADD_NETWORK);
  const forgetNetworks = database.prepare(FORGET_NETWORKS);
  const logins = database.prepare<[], LoginRecord>(LOGINS);
  const newNetworks = database.prepare<[number], Pick<LoginRecord, "sid" | "at" | "network">>(NEW_NETWORKS);

  return {
    list: () => list.all(),
    add: (factor) => add.run(factor).changes === 1,
    remove: atomic(database, (ids) => {
      const removed = ids === "all" ? removeAll.all().sort() : ids.flatMap((id) => remove.get(id) ?? []);
      removeCodesOfNobody.run();
      return removed;
    }),
    use: (id, counter, at, mayLoseCounter = false) =>
      use.run({ id, counter, at, mayLoseCounter: Number(mayLoseCounter) }).changes === 1,
    setRecoveryCodes: atomic(database, (digests) => {
      removeCodes.run();
      for (const digest of digests) addCode.run(digest);
    }),
    spendRecoveryCode: (digest) => spendCode.run(digest).changes === 1,
    recoveryCodesLeft: () => countCodes.get() ?? 0,
    spend: atomic(database, (id, expiresAt, now) => {
      forgetSpent.run(now);
      return spend.run(id, expiresAt).changes === 1;
    }),
    addLogin: atomic(database, (login) => {
      addLogin.run(login);
      trimLogins.run();
      addNetwork.run(login);
      forgetNetworks.run(login.at);
    }),
    logins: () => logins.all(),
    loginsFromNewNetworks: (since) => newNetworks.all(since),
  };
}
