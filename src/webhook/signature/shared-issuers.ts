/** A provider of identities that signs tokens for everybody, with any audience. */
interface SharedIssuer {
  /** What `iss` is in its tokens. */
  issuers: readonly string[];
  /** Where its public keys are. */
  keys: readonly string[];
  /** The claims that tell who asked for a token. */
  identity: readonly string[];
}

const SHARED_ISSUERS: readonly SharedIssuer[] = [
  // https://developers.google.com/identity/openid-connect/openid-connect
  {
    issuers: ["https://accounts.google.com", "accounts.google.com"],
    keys: ["https://www.googleapis.com/oauth2/v1/certs", "https://www.googleapis.com/oauth2/v3/certs"],
    identity: ["email", "sub"],
  },
  // https://developer.apple.com/documentation/signinwithapple/fetch-apple-s-public-key-for-verifying-token-signature
  {
    issuers: ["https://appleid.apple.com"],
    keys: ["https://appleid.apple.com/auth/keys"],
    identity: ["aud"],
  },
  // https://docs.github.com/en/actions/reference/security/oidc
  {
    issuers: ["https://token.actions.githubusercontent.com"],
    keys: ["https://token.actions.githubusercontent.com/.well-known/jwks"],
    identity: ["sub", "repository", "repository_id", "repository_owner", "repository_owner_id"],
  },
];

/** The claims of which a source must require one, because anybody gets tokens of its issuer; null if it need not. */
export function identityClaimsOf(issuers: readonly string[], keys: readonly string[]): readonly string[] | null {
  const found = SHARED_ISSUERS.find(
    (shared) =>
      issuers.some((issuer) => shared.issuers.includes(issuer)) || keys.some((place) => shared.keys.includes(place)),
  );
  return found?.identity ?? null;
}
