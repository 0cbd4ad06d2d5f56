/** The one configured user. */
export interface User {
  id: string;
  email: string;
}

/** Whether claims name the configured user. A token with another e-mail is from an earlier configuration. */
export function matchesUser(claims: { sub: string; email: string }, user: User): boolean {
  return claims.sub === user.id && claims.email === user.email;
}
