import { AppError } from "../errors.ts";
import { coalesce } from "../lib/coalesce.ts";
import type { SessionStore } from "./sessions.ts";
import { type AccessClaims, createVerifyToken } from "./token.ts";
import { isOfUser, type User } from "./user.ts";

/** The guard of protected operations, see {@link createAuthenticate}. Takes the values of `Authorization` that were sent. */
export type Authenticate = (authorization: readonly string[]) => Promise<AccessClaims>;

/**
 * Creates the guard of protected operations. It resolves with the claims of a token that is genuine and whose `sid` is
 * the user's active session; otherwise it throws `missing_token`, `invalid_token` or `session_invalidated`.
 */
export function createAuthenticate(
  user: User,
  sessions: SessionStore,
  secrets: readonly string[],
  now: () => number = Date.now,
): Authenticate {
  const verify = createVerifyToken(secrets);
  // Without it /auth/me came at half the rate, on both stores.
  const currentSession = coalesce((userId) => sessions.current(userId));
  return async (authorization) => {
    const claims = verify(bearerToken(authorization), Math.floor(now() / 1000));
    if (claims === null) throw invalidToken();
    if (!isOfUser(claims, user)) {
      // There is one user: whoever was it under an earlier configuration has no session.
      throw claims.sub === user.id ? invalidToken() : await sessionInvalidated(sessions, claims);
    }
    if ((await currentSession(claims.sub)) !== claims.sid) throw await sessionInvalidated(sessions, claims);
    return claims;
  };
}

/** The token of the one `Authorization: Bearer <token>` header. The scheme's case does not matter (RFC 9110, 11.1). */
function bearerToken([header = "", ...others]: readonly string[]): string {
  if (others.length > 0) throw invalidToken();
  if (/^bearer[ \t]*$/i.test(header) || !/^bearer[^a-z]/i.test(header)) {
    throw new AppError("missing_token", { headers: { "WWW-Authenticate": "Bearer" } });
  }
  const match = /^bearer ([A-Za-z0-9._-]+)$/i.exec(header);
  if (!match?.[1]) throw invalidToken();
  return match[1];
}

const INVALID_TOKEN_CHALLENGE = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

function invalidToken(): AppError {
  return new AppError("invalid_token", { headers: INVALID_TOKEN_CHALLENGE });
}

/** The answer to a genuine token whose session has ended. It tells which login took the session's place, if one did. */
export async function sessionInvalidated(sessions: SessionStore, { sub, sid }: AccessClaims): Promise<AppError> {
  const supersession = await sessions.supersession(sub, sid);
  const members = supersession && {
    supersededAt: new Date(supersession.at).toISOString(),
    supersededBy: supersession.by,
  };
  return new AppError("session_invalidated", { headers: INVALID_TOKEN_CHALLENGE, members: members ?? undefined });
}
