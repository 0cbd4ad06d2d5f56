import {
  type AuthorizationCode,
  type ClientStore,
  type ClientToken,
  type FailedLogout,
  MAX_PURGED,
  type Participation,
  type SigningKeyRecord,
  type StoredSigningKey,
} from "../auth/clients/store.ts";
import { keyIdIn, missingKey, orNull, type PayloadCodec, ROW, UnsealableError } from "./payload-codec.ts";
import { change, changed, type Query, type QueryPort, row, rows } from "./query.ts";

const GRANT = `client, user_id AS "userId", sid, scope, authenticated_at AS "authenticatedAt", method, nonce`;
const CODE = `digest, ${GRANT}, redirect_uri AS "redirectUri", challenge, expires_at AS "expiresAt"`;
const TOKEN = `digest, kind, family, ${GRANT}, issued_at AS "issuedAt", expires_at AS "expiresAt"`;
const PARTICIPATION = `client, user_id AS "userId", sid, since, attempts, due_at AS "dueAt", error`;

const ADD_CODE = `
INSERT INTO authserve.client_codes (digest, client, user_id, sid, scope, authenticated_at, method, nonce,
  redirect_uri, challenge, expires_at, kept_until)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::bigint, $11::bigint)`;

const USE_CODE = `
UPDATE authserve.client_codes SET is_used = true WHERE digest = $1 AND NOT is_used AND NOT is_revoked
RETURNING ${CODE}`;

/** Locks a family, and keeps its code until a time. It changes no row if the family gets no tokens: family, time. */
const KEEP_FAMILY = `
UPDATE authserve.client_codes SET kept_until = greatest(kept_until, $2::bigint)
WHERE digest = $1 AND is_used AND NOT is_revoked`;

/** Locks a family, so that what is about to add tokens to it has done so, or adds none. */
const REVOKE = "UPDATE authserve.client_codes SET is_revoked = true WHERE digest = $1";
const REMOVE_FAMILY = "DELETE FROM authserve.client_tokens WHERE family = $1";

const ADD_TOKEN = `
INSERT INTO authserve.client_tokens (digest, kind, family, client, user_id, sid, scope, authenticated_at, method,
  nonce, issued_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;
const FIND_TOKEN = `SELECT ${TOKEN} FROM authserve.client_tokens WHERE digest = $1 AND NOT is_used`;
const FAMILY_OF_REFRESH = "SELECT family FROM authserve.client_tokens WHERE digest = $1 AND kind = 'refresh'";
const USE_REFRESH = "UPDATE authserve.client_tokens SET is_used = true WHERE digest = $1 AND NOT is_used";

/** Locks the families of a session, in an order that all have. */
const LOCK_SESSION = "SELECT digest FROM authserve.client_codes WHERE sid = $1 ORDER BY digest FOR UPDATE";

/** Revokes the families of a session, except the begun ones of some clients: session, clients. */
const REVOKE_SESSION = `
UPDATE authserve.client_codes SET is_revoked = true
WHERE sid = $1 AND NOT (is_used AND client = ANY($2::text[]))`;
const REMOVE_SESSION = `
DELETE FROM authserve.client_tokens WHERE sid = $1 AND NOT client = ANY($2::text[])`;

const CONSENT = "SELECT scope FROM authserve.client_consents WHERE user_id = $1 AND client = $2";
const SET_CONSENT = `
INSERT INTO authserve.client_consents (user_id, client, scope, at) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id, client) DO UPDATE SET scope = excluded.scope, at = excluded.at`;
const REMOVE_CONSENT = "DELETE FROM authserve.client_consents WHERE user_id = $1 AND client = $2";

/** Notes that an app takes part in a session, and locks that: client, session, user, time. */
const JOIN_SESSION = `
INSERT INTO authserve.client_sessions AS known (client, sid, user_id, since) VALUES ($1, $2, $3, $4)
ON CONFLICT (client, sid) DO UPDATE SET since = known.since RETURNING ended_at AS "endedAt"`;

const PARTICIPATIONS = `
SELECT ${PARTICIPATION} FROM authserve.client_sessions WHERE ended_at IS NULL ORDER BY since, client, sid`;
const FAILED = `
SELECT ${PARTICIPATION}, ended_at AS "failedAt" FROM authserve.client_sessions
WHERE is_failed ORDER BY ended_at DESC, client, sid`;

/** Counts an attempt: client, session, next time, error, end, whether it failed. */
const SETTLE = `
UPDATE authserve.client_sessions
SET attempts = attempts + 1, due_at = $3, error = $4, ended_at = $5, is_failed = $6
WHERE client = $1 AND sid = $2 AND ended_at IS NULL`;

const RETRY = `
UPDATE authserve.client_sessions SET attempts = 0, due_at = 0, ended_at = NULL, is_failed = false
WHERE is_failed AND ($1::text IS NULL OR client = $1)`;

// A time that another server may change meanwhile is compared twice.
const PURGES = [
  `DELETE FROM authserve.client_codes WHERE kept_until < $1::bigint AND digest IN (
    SELECT digest FROM authserve.client_codes WHERE kept_until < $1::bigint ORDER BY kept_until LIMIT ${MAX_PURGED})`,
  `DELETE FROM authserve.client_tokens WHERE digest IN (
    SELECT digest FROM authserve.client_tokens WHERE expires_at < $1::bigint ORDER BY expires_at LIMIT ${MAX_PURGED})`,
  `DELETE FROM authserve.client_sessions WHERE ended_at < $1::bigint AND (client, sid) IN (
    SELECT client, sid FROM authserve.client_sessions WHERE ended_at < $1::bigint
    ORDER BY ended_at LIMIT ${MAX_PURGED})`,
];

const SIGNING_KEYS = `
SELECT id, algorithm, private_key AS "privateKey", created_at AS "createdAt", signs_from AS "signsFrom"
FROM authserve.signing_keys ORDER BY created_at, id`;
const ADD_SIGNING_KEY = `
INSERT INTO authserve.signing_keys (id, algorithm, private_key, created_at, signs_from) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (id) DO NOTHING`;

/** Keeps what apps were granted. What changes a family locks its code first, and then tokens and participations. */
export const clientStore = (codec: PayloadCodec): QueryPort<ClientStore> => ({
  addCode: (code) => {
    const { digest, client, userId, sid, scope, authenticatedAt, method, nonce, redirectUri, challenge } = code;
    const grant = [client, userId, sid, scope, Math.round(authenticatedAt), method, nonce];
    return changed(ADD_CODE, digest, ...grant, redirectUri, challenge, Math.round(code.expiresAt));
  },
  *useCode(digest) {
    const [code] = yield* rows<AuthorizationCode>(USE_CODE, digest);
    if (code !== undefined) return code;
    yield* revoke(digest);
    return null;
  },
  *addTokens(tokens) {
    const [first] = tokens;
    if (first === undefined || !(yield* keepFamily(first.family, tokens))) return false;
    const { client, sid, userId, issuedAt } = first;
    const joined = yield* row<{ endedAt: number | null }>(JOIN_SESSION, client, sid, userId, Math.round(issuedAt));
    if (joined?.endedAt !== null) return false;
    yield* add(tokens);
    return true;
  },
  findToken: (digest) => row<ClientToken>(FIND_TOKEN, digest).as((found) => found ?? null),
  *rotate(digest, next) {
    const used = yield* row<{ family: string }>(FAMILY_OF_REFRESH, digest);
    if (used === undefined || !(yield* keepFamily(used.family, next))) return false;
    if ((yield* change(USE_REFRESH, digest)) === 1) {
      yield* add(next);
      return true;
    }
    yield* revoke(used.family);
    return false;
  },
  revokeFamily: (family) => revoke(family),
  *removeOfSession(sid, exceptOf) {
    yield* changed(LOCK_SESSION, sid);
    yield* changed(REVOKE_SESSION, sid, exceptOf);
    yield* changed(REMOVE_SESSION, sid, exceptOf);
  },
  consent: (userId, client) => row<{ scope: string }>(CONSENT, userId, client).as((found) => found?.scope ?? null),
  setConsent: (userId, client, scope, at) => changed(SET_CONSENT, userId, client, scope, Math.round(at)),
  removeConsent: (userId, client) => changed(REMOVE_CONSENT, userId, client),
  participations: () => rows<Participation>(PARTICIPATIONS),
  failedLogouts: () => rows<FailedLogout>(FAILED),
  settleLogout: ({ client, sid }, outcome, at) => {
    const dueAt = outcome.to === "again" ? Math.round(outcome.dueAt) : 0;
    const error = outcome.to === "done" ? null : outcome.error;
    const endedAt = outcome.to === "again" ? null : Math.round(at);
    return changed(SETTLE, client, sid, dueAt, error, endedAt, outcome.to === "failed");
  },
  retryLogouts: (client) => change(RETRY, client),
  *purge(before) {
    let isMore = false;
    for (const statement of PURGES) if ((yield* change(statement, Math.round(before))) === MAX_PURGED) isMore = true;
    return isMore;
  },
  signingKeys: () => rows<SigningKeyRecord>(SIGNING_KEYS).as((found) => found.map((key) => opened(codec, key))),
  addSigningKey: ({ id, algorithm, privateKey, createdAt, signsFrom }) => {
    const sealed = codec.sealText(ROW.signingKey(id), privateKey);
    return changed(ADD_SIGNING_KEY, id, algorithm, sealed, Math.round(createdAt), Math.round(signsFrom));
  },
  removeSigningKeys: (ids) => changed("DELETE FROM authserve.signing_keys WHERE id = ANY($1::text[])", ids),
});

/** A key with its private part decrypted, or with the reason why it cannot be. */
function opened(codec: PayloadCodec, { privateKey: sealed, ...key }: SigningKeyRecord): StoredSigningKey {
  try {
    const privateKey = orNull(() => codec.openText(ROW.signingKey(key.id), sealed));
    if (privateKey !== null) return { ...key, privateKey, fault: null };
    return { ...key, privateKey, fault: missingKey(keyIdIn(sealed) ?? "") };
  } catch (error) {
    if (error instanceof UnsealableError) return { ...key, privateKey: null, fault: `is damaged: ${error.message}` };
    throw error;
  }
}

/** Locks a family for these tokens. False: it gets none. */
const keepFamily = (family: string, tokens: readonly ClientToken[]) =>
  change(KEEP_FAMILY, family, Math.round(Math.max(0, ...tokens.map(({ expiresAt }) => expiresAt)))).as(
    (count) => count === 1,
  );

function* add(tokens: readonly ClientToken[]): Query<void> {
  for (const { digest, kind, family, client, userId, sid, scope, method, nonce, ...times } of tokens) {
    const { authenticatedAt, issuedAt, expiresAt } = times;
    const grant = [client, userId, sid, scope, Math.round(authenticatedAt), method, nonce];
    yield* changed(ADD_TOKEN, digest, kind, family, ...grant, Math.round(issuedAt), Math.round(expiresAt));
  }
}

function* revoke(family: string): Query<void> {
  yield* changed(REVOKE, family);
  yield* changed(REMOVE_FAMILY, family);
}
