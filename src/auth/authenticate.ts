import { AppError } from "../errors.ts";
import { coalesce } from "../lib/coalesce.ts";
import type { DeviceBinding } from "./device-binding.ts";
import { tokensIn } from "./machine-tokens/form.ts";
import type { People, Person } from "./people/people.ts";
import type { SessionStore } from "./sessions.ts";
import { type AccessClaims, createVerifyToken, readToken } from "./token.ts";
import { matchesUser } from "./user.ts";

/** A session that a request has. */
export interface LiveSession {
  claims: AccessClaims;
  person: Person;
  /** Whether the request proves the device that the session is bound to. */
  isBound: boolean;
}

/**
 * Creates the guard of protected operations. It resolves with the token's claims if the token is genuine and its `sid`
 * is the active session of a person. Otherwise it throws `missing_token`, `invalid_token` or `session_invalidated`. A
 * session that is bound to a device also needs a proof of it, or it throws `device_not_proved`.
 */
export function createAuthenticate(
  people: Pick<People, "byId">,
  sessions: SessionStore,
  secrets: readonly string[],
  now: () => number = Date.now,
  device: Pick<DeviceBinding, "isProved"> | null = null,
) {
  const verify = createVerifyToken(secrets);
  // Sharing reads doubles the rate of GET /auth/me, on both stores.
  const currentSession = coalesce((userId) => sessions.find(userId));

  /** The claims of a genuine token; null for any other. */
  function genuine(token: string): AccessClaims | null {
    const claims = verify(token, now() / 1000);
    const person = claims && people.byId(claims.sub);
    // Another `sub` is a person of an earlier configuration, who has no session.
    return claims !== null && person !== null && !matchesUser(claims, person) ? null : claims;
  }

  /** The one of these claims, newest first, whose session is active. */
  async function live(candidates: readonly AccessClaims[], proofs: readonly string[]): Promise<LiveSession> {
    const [newest] = candidates;
    if (newest === undefined) throw invalidToken();
    const found = await firstLive(candidates);
    if (found === null) throw await sessionInvalidated(sessions, newest);
    const { record, ...session } = found;
    const isBound = device?.isProved(record.sid, proofs) ?? false;
    const mustBeBound = device !== null && now() >= (record.device?.boundFrom ?? Number.POSITIVE_INFINITY);
    if (mustBeBound && !isBound) throw new AppError("device_not_proved", { headers: INVALID_TOKEN_CHALLENGE });
    return { ...session, isBound };
  }

  async function firstLive(candidates: readonly AccessClaims[]) {
    const records = new Map<string, Awaited<ReturnType<typeof currentSession>>>();
    for (const claims of candidates) {
      const person = people.byId(claims.sub);
      if (person === null) continue;
      const { id } = person;
      if (!records.has(id)) records.set(id, await currentSession(id));
      const record = records.get(id) ?? null;
      if (record?.sid === claims.sid) return { claims, person, record };
    }
    return null;
  }

  function isOwnToken(token: string): boolean {
    if (verify(token, now() / 1000) !== null) return true;
    const { hasExactHeader, claims } = readToken(token, secrets);
    return hasExactHeader && claims !== null;
  }

  return {
    /**
     * Whether one of these values of `Authorization` headers has a token of this service: of exactly its form, and
     * signed with one of its secrets, or a token of a program, which is no session. It may have expired. Others, e.g.
     * the tokens of a protected app, are for somebody else.
     */
    isOwn: (authorization: readonly string[]) =>
      tokensIn(authorization).length > 0 ||
      authorization.some((value) => {
        const token = BEARER.exec(value)?.[1];
        return token !== undefined && isOwnToken(token);
      }),
    /** Authenticates a request by the values of its `Authorization` headers, and its proofs of a device. */
    async byHeader(authorization: readonly string[], proofs: readonly string[] = []): Promise<LiveSession> {
      const claims = genuine(bearerToken(authorization));
      return live(claims === null ? [] : [claims], proofs);
    },
    /**
     * Authenticates a request by its cookie. Other hosts can add cookies of the same name, so several may have come, in
     * any order and number: those that are not genuine do not count.
     */
    async byCookie(tokens: readonly string[], proofs: readonly string[] = []): Promise<LiveSession> {
      if (tokens.length === 0) throw missingToken();
      const candidates = tokens.map(genuine).filter((claims) => claims !== null);
      return live(
        candidates.sort((a, b) => (b.iat ?? 0) - (a.iat ?? 0)),
        proofs,
      );
    },
  };
}

/** The guard of protected operations, see {@link createAuthenticate}. */
export type Authenticate = ReturnType<typeof createAuthenticate>;

const BEARER = /^bearer ([A-Za-z0-9._-]+)$/i;

/**
 * Reads the token of the one `Authorization: Bearer <token>` header. The scheme is case-insensitive (RFC 9110, 11.1).
 */
function bearerToken([header = "", ...others]: readonly string[]): string {
  if (others.length > 0) throw invalidToken();
  if (/^bearer[ \t]*$/i.test(header) || !/^bearer[^a-z]/i.test(header)) {
    throw missingToken();
  }
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw invalidToken();
  return token;
}

/** Creates the error for a request without a token. */
export function missingToken(): AppError {
  return new AppError("missing_token", { headers: { "WWW-Authenticate": "Bearer" } });
}

const INVALID_TOKEN_CHALLENGE = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

function invalidToken(): AppError {
  return new AppError("invalid_token", { headers: INVALID_TOKEN_CHALLENGE });
}

/**
 * Creates the error for a genuine token whose session has ended. If a login superseded the session, it names that
 * login.
 */
export async function sessionInvalidated(sessions: SessionStore, { sub, sid }: AccessClaims): Promise<AppError> {
  const supersession = await sessions.supersession(sub, sid);
  const members = supersession && {
    supersededAt: new Date(supersession.at).toISOString(),
    supersededBy: supersession.by,
  };
  return new AppError("session_invalidated", { headers: INVALID_TOKEN_CHALLENGE, members: members ?? undefined });
}
