/** The one configured user. */
export interface User {
  id: string;
  email: string;
}

/** Whether claims are about this user as it is configured now. Another e-mail is that of an earlier configuration. */
export function isOfUser(claims: { sub: string; email: string }, user: User): boolean {
  return claims.sub === user.id && claims.email === user.email;
}
