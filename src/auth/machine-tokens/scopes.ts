/** What a token may do, besides `verify` at one host. */
const SCOPES = ["verify", "events:read", "events:write", "events:erase", "manage", "listen", "metrics"] as const;

/** A scope without a host. */
export type PlainScope = (typeof SCOPES)[number];

const VERIFY_AT = "verify:";
const HOST = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/** The scope as it is stored, with its host in lower case. Null if there is no such scope. */
export function scopeOf(text: string): string | null {
  if (SCOPES.some((scope) => scope === text)) return text;
  if (!text.startsWith(VERIFY_AT)) return null;
  const host = text.slice(VERIFY_AT.length).toLowerCase();
  return HOST.test(host) ? `${VERIFY_AT}${host}` : null;
}

/** Names all scopes, for the remedy of an error. */
export const SCOPE_NAMES = [SCOPES[0], "verify:HOST", ...SCOPES.slice(1)].join(", ");

/** Whether a scope is for forward-auth alone, which is what anybody's program may have. */
export const isOfVerify = (scope: string) => scope === "verify" || scope.startsWith(VERIFY_AT);

/** Whether these scopes let a request pass forward-auth at a host. Null is an unknown host. */
export function mayVerify(scopes: readonly string[], host: string | null): boolean {
  return scopes.includes("verify") || (host !== null && scopes.includes(`${VERIFY_AT}${host}`));
}
