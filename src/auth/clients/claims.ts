import { hash } from "node:crypto";
import type { LoginMethod } from "../factors/store.ts";
import type { User } from "../user.ts";
import type { Client } from "./client.ts";

/**
 * The `sid` of a session for one client. No two clients get the same one. It stays the same when secrets are rotated,
 * so that the app finds the session when it ends; who does not know the id of the session cannot guess it.
 */
export const clientSid = (sid: string, client: string) =>
  hash("sha256", JSON.stringify(["sid of a client", client, sid]), "base64url");

/**
 * RFC 8176, 2. A recovery code is a look-up secret, used once, so it is `otp` (NIST SP 800-63B, 5.1.2). Passkeys have
 * `pop`: without attestation nobody knows whether a key is in hardware (`hwk`) or software (`swk`). They always verify
 * their user, which makes two factors: `user` and `mfa`.
 */
const AMR: Record<LoginMethod, readonly string[]> = {
  password: ["pwd"],
  totp: ["pwd", "otp", "mfa"],
  recovery_code: ["pwd", "otp", "mfa"],
  passkey: ["pop", "user", "mfa"],
};

/** The value of `amr` for a login. Undefined, so without the claim: it is unknown how it was proved. */
export const amrOf = (method: LoginMethod | null) => (method === null ? undefined : AMR[method]);

/** What is said of a person (OpenID Connect Core, 5.1). `groups` is no standard claim, but the name that apps read. */
interface PersonClaims {
  /** The configured user id: an e-mail may change, or pass to another person (5.7). */
  sub: string;
  preferred_username?: string;
  name?: string;
  email?: string;
  /** The operator has configured the address. */
  email_verified?: true;
  groups?: readonly string[];
}

/** The claims of a person for a client by the granted scopes, which are separated by spaces. */
export function claimsOf(user: User, { claims }: Pick<Client, "claims">, scope: string): PersonClaims {
  const scopes = scope.split(" ");
  const username = claims.username ?? user.email.slice(0, user.email.lastIndexOf("@"));
  return {
    sub: user.id,
    ...(scopes.includes("profile") && { preferred_username: username, name: username }),
    ...(scopes.includes("email") && { email: user.email, email_verified: true }),
    ...(scopes.includes("groups") && { groups: claims.groups }),
  };
}
