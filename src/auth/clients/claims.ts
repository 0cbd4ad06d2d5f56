import { hash } from "node:crypto";
import type { LoginMethod } from "../factors/store.ts";
import type { Person } from "../people/people.ts";
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

type Claimant = Pick<Person, "id" | "email" | "name" | "displayName" | "groups" | "isListed">;

/** The claims of a person for a client by the granted scopes, which are separated by spaces. */
export function claimsOf(person: Claimant, client: Pick<Client, "claims">, scope: string): PersonClaims {
  const scopes = scope.split(" ");
  const { username, name, groups } = namesOf(person, client);
  return {
    sub: person.id,
    ...(scopes.includes("profile") && { preferred_username: username, name }),
    ...(scopes.includes("email") && { email: person.email, email_verified: true }),
    ...(scopes.includes("groups") && { groups }),
  };
}

/** What the client says is for the one person whom the file does not have: nobody else may get those groups. */
function namesOf({ isListed, name, displayName, groups, email }: Claimant, { claims }: Pick<Client, "claims">) {
  if (isListed) return { username: name, name: displayName ?? name, groups };
  const username = claims.username ?? usernameIn(email);
  return { username, name: username, groups: claims.groups };
}

/** The part of an e-mail before the `@`. */
export const usernameIn = (email: string) => email.slice(0, email.lastIndexOf("@"));
