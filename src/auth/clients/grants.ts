import { hash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { DAY_MS } from "../../lib/durations.ts";
import type { FactorStores } from "../factors/store.ts";
import type { People, Person } from "../people/people.ts";
import type { SessionStore } from "../sessions.ts";
import type { AccessClaims } from "../token.ts";
import { type AuthorizationRequest, wordsOf } from "./authorization-request.ts";
import { amrOf, claimsOf, clientSid } from "./claims.ts";
import { type Client, mayLogInTo } from "./client.ts";
import { pkceFault } from "./pkce.ts";
import { ID_TOKEN_TYPE, type SigningKeys } from "./signing-keys.ts";
import type { ClientStore, ClientToken, Grant, Participation } from "./store.ts";
import { type TokenError, tokenError } from "./token-errors.ts";

/** What grants tokens to apps. `now` is in Unix milliseconds. */
interface GrantParts {
  store: ClientStore;
  sessions: Pick<SessionStore, "current">;
  factors: Pick<FactorStores, "logins">;
  keys: SigningKeys;
  people: Pick<People, "byId">;
  issuer: string;
  now(): number;
}

const CODE_MS = 60_000;
/** The life of access and ID tokens. */
const TOKEN_SECONDS = 900;
const REFRESH_MS = 30 * DAY_MS;

/** How long a login waits until its app was told of the ends of earlier sessions. */
const TOLD_WITHIN_MS = 2000;
const LOOK_EVERY_MS = 50;

/** A login, as far as it is known. */
export type Authentication = Pick<Grant, "authenticatedAt" | "method">;

/** The answer of the token endpoint (OpenID Connect Core, 3.1.3.3). */
interface TokenAnswer {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  scope: string;
  id_token: string;
  refresh_token?: string;
}

type Granted = { ok: true; answer: TokenAnswer } | { ok: false; error: TokenError };

const digestOf = (value: string) => hash("sha256", value, "hex");
const newValue = () => randomBytes(32).toString("base64url");
const has = (scope: string, name: string) => wordsOf(scope).includes(name);

/** Creates what grants codes and tokens to apps. */
export function createGrants({ store, sessions, factors, keys, people, issuer, now }: GrantParts) {
  const isLive = async ({ userId, sid }: Pick<Grant, "userId" | "sid">) => (await sessions.current(userId)) === sid;

  /** Whether the person of a grant may log in to the client. Whoever is gone may have left sessions and tokens. */
  function isAllowed({ userId }: Pick<Grant, "userId">, client: Client): boolean {
    const person = people.byId(userId);
    return person !== null && mayLogInTo(client, person);
  }

  /** Whether a token may still be used for its session. One with `offline_access` may outlive it. */
  async function isUsable(token: ClientToken, client: Client): Promise<boolean> {
    if (token.expiresAt <= now() || !isAllowed(token, client)) return false;
    const { sessionMaxAgeSeconds: most } = client;
    if (most !== null && now() - token.authenticatedAt >= most * 1000) return false;
    return (client.offline === "keep" && has(token.scope, "offline_access")) || isLive(token);
  }

  /** Makes tokens. A refresh may ask for less than all scopes, but whether its token outlives the session stays. */
  async function tokensFor(
    grant: Grant,
    family: string,
    client: Client,
    asked: readonly string[] = [],
  ): Promise<[ClientToken[], TokenAnswer]> {
    const granted = wordsOf(grant.scope);
    const given = granted.filter((one) => asked.length === 0 || asked.includes(one) || one === "offline_access");
    const scope = given.join(" ");
    const issuedAt = now();
    const access = newValue();
    const refresh = has(grant.scope, "offline_access") ? newValue() : null;
    const { client: name, userId, sid, authenticatedAt, method, nonce } = grant;
    const common = { client: name, userId, sid, scope: grant.scope, authenticatedAt, method, nonce, family, issuedAt };
    const tokens: ClientToken[] = [
      { ...common, scope, digest: digestOf(access), kind: "access", expiresAt: issuedAt + TOKEN_SECONDS * 1000 },
    ];
    if (refresh !== null)
      tokens.push({ ...common, digest: digestOf(refresh), kind: "refresh", expiresAt: issuedAt + REFRESH_MS });
    const answer: TokenAnswer = {
      access_token: access,
      token_type: "Bearer",
      expires_in: TOKEN_SECONDS,
      scope,
      id_token: await idToken({ ...grant, scope }, client),
      ...(refresh !== null && { refresh_token: refresh }),
    };
    return [tokens, answer];
  }

  function idToken({ userId, sid, scope, authenticatedAt, method, nonce }: Grant, client: Client): Promise<string> {
    const person = people.byId(userId);
    const iat = Math.floor(now() / 1000);
    const claims = {
      ...(client.claims.inIdToken && person ? claimsOf(person, client, scope) : { sub: userId }),
      iss: issuer,
      aud: client.name,
      iat,
      exp: iat + TOKEN_SECONDS,
      auth_time: Math.floor(authenticatedAt / 1000),
      sid: clientSid(sid, client.name),
      ...(nonce !== null && { nonce }),
      ...(method !== null && { amr: amrOf(method) }),
    };
    return keys.sign(claims, client.algorithm, ID_TOKEN_TYPE);
  }

  /**
   * Waits until an app was told of the ends of other sessions. Some apps, such as express-openid-connect, take each for
   * the end of all sessions that their user has by then. One that could not be told is not waited for.
   */
  async function untilTold({ name, logout }: Client, userId: string, sid: string): Promise<void> {
    if (logout.backchannel === null) return;
    const isUntold = (one: Participation) =>
      one.client === name && one.userId === userId && one.sid !== sid && one.attempts === 0;
    for (let left = TOLD_WITHIN_MS / LOOK_EVERY_MS; left > 0; left--) {
      if (!(await store.participations()).some(isUntold)) return;
      await delay(LOOK_EVERY_MS);
    }
  }

  const refuse = (description: string): Granted => ({ ok: false, error: tokenError("invalid_grant", description) });

  return {
    /** When and how the session of these claims was opened. A renewed token keeps the time. */
    async authentication({ sid, iat = 0 }: Pick<AccessClaims, "sid" | "iat">, person: Person): Promise<Authentication> {
      const login = (await factors.logins(person.account)).find((one) => one.sid === sid);
      return { authenticatedAt: login?.at ?? iat * 1000, method: login?.method ?? null };
    },
    /** Makes a code for a request that passed every check, in a live session. */
    async code(
      request: AuthorizationRequest,
      { sub: userId, sid }: Pick<AccessClaims, "sub" | "sid">,
      authentication: Authentication,
    ): Promise<string> {
      const { client, redirectUri, scope, nonce, challenge } = request;
      await untilTold(client, userId, sid);
      const value = newValue();
      const grant = { client: client.name, userId, sid, scope, nonce, ...authentication };
      const expiresAt = now() + CODE_MS;
      await store.addCode({ ...grant, digest: digestOf(value), redirectUri, challenge, expiresAt });
      return value;
    },
    /** Exchanges a code. The second use ends what the first one got. */
    async exchange(client: Client, sent: ReadonlyMap<string, string>): Promise<Granted> {
      const value = sent.get("code");
      if (value === undefined) return { ok: false, error: tokenError("invalid_request", "code is missing") };
      const code = await store.useCode(digestOf(value));
      if (code === null || code.client !== client.name || code.expiresAt <= now())
        return refuse("the code is unknown, expired, used before, or of another client");
      if (sent.get("redirect_uri") !== code.redirectUri)
        return refuse("redirect_uri is not the one of the authorization request");
      const fault = pkceFault(code.challenge, sent.get("code_verifier"));
      if (fault !== null) return refuse(fault);
      if (!isAllowed(code, client) || !(await isLive(code))) return refuse("the session of the login has ended");
      const [tokens, answer] = await tokensFor(code, code.digest, client);
      if (!(await store.addTokens(tokens))) return refuse("the code was used twice");
      return { ok: true, answer };
    },
    /** Exchanges a refresh token. A second use ends all tokens of its code. */
    async refresh(client: Client, sent: ReadonlyMap<string, string>): Promise<Granted> {
      const value = sent.get("refresh_token");
      if (value === undefined) return { ok: false, error: tokenError("invalid_request", "refresh_token is missing") };
      const token = await store.findToken(digestOf(value));
      const isOwn = token !== null && token.kind === "refresh" && token.client === client.name;
      if (token !== null && !isOwn) return refuse("the refresh token is of another client, or no refresh token");
      if (token !== null && !(await isUsable(token, client))) return refuse("the login has ended, or is too old");
      const asked = wordsOf(sent.get("scope"));
      if (token !== null && !asked.every((scope) => has(token.scope, scope)))
        return { ok: false, error: tokenError("invalid_scope", "expected no more scopes than those of the login") };
      const [next, answer] = token === null ? [[], null] : await tokensFor(token, token.family, client, asked);
      if (!(await store.rotate(digestOf(value), next)) || answer === null)
        return refuse("the refresh token is unknown, or was used before");
      return { ok: true, answer };
    },
    /** The access token with this value, if it may be used now, with its client. */
    async accessToken(
      value: string,
      clients: readonly Client[],
    ): Promise<{ token: ClientToken; client: Client; person: Person } | null> {
      const token = await store.findToken(digestOf(value));
      const client = clients.find(({ name }) => name === token?.client);
      const person = token && people.byId(token.userId);
      if (token?.kind !== "access" || client === undefined || person === null) return null;
      return (await isUsable(token, client)) ? { token, client, person } : null;
    },
    /** What a client is told about a token of its own (RFC 7662); nothing but that it is not active about any other. */
    async introspect(client: Client, value: string): Promise<Record<string, unknown>> {
      const token = await store.findToken(digestOf(value));
      if (token?.client !== client.name || !(await isUsable(token, client))) return { active: false };
      const { userId, scope, kind, issuedAt, expiresAt } = token;
      const seconds = (ms: number) => Math.floor(ms / 1000);
      return {
        active: true,
        scope,
        client_id: client.name,
        token_type: kind === "access" ? "Bearer" : "refresh_token",
        sub: userId,
        iss: issuer,
        iat: seconds(issuedAt),
        exp: seconds(expiresAt),
      };
    },
    /** Ends a token of a client, with all that came from its code (RFC 7009). */
    async revoke(client: Client, value: string): Promise<void> {
      const token = await store.findToken(digestOf(value));
      if (token?.client === client.name) await store.revokeFamily(token.family);
    },
  };
}

/** What grants codes and tokens to apps. */
export type Grants = ReturnType<typeof createGrants>;
