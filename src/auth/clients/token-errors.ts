/** The errors of the token endpoint (RFC 6749, 5.2). */
type TokenErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "invalid_scope";

/** The answer of the token endpoint to a request that it refuses. */
export interface TokenError {
  status: 400 | 401;
  headers: Readonly<Record<string, string>>;
  body: { error: TokenErrorCode; error_description: string };
}

/**
 * Creates the answer for an error. `invalid_client` is 401, and names the Basic scheme if the client tried a header.
 * Descriptions are ASCII without `"` and `\`.
 */
export function tokenError(error: TokenErrorCode, description: string, { triedHeader = false } = {}): TokenError {
  return {
    status: error === "invalid_client" ? 401 : 400,
    headers: triedHeader ? { "WWW-Authenticate": 'Basic realm="authserve"' } : {},
    body: { error, error_description: description },
  };
}
