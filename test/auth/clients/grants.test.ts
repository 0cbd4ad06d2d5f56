import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AuthorizationRequest } from "../../../src/auth/clients/authorization-request.ts";
import type { Client } from "../../../src/auth/clients/client.ts";
import { createGrants } from "../../../src/auth/clients/grants.ts";
import type { ClientStore, ClientToken } from "../../../src/auth/clients/store.ts";
import { onePerson } from "../../helpers/people.ts";

type GrantParts = Parameters<typeof createGrants>[0];

const CLIENT: Client = {
  name: "app",
  preset: null,
  redirects: [],
  secret: "secret",
  logout: { backchannel: null, after: [] },
  allow: null,
  claims: { groups: [], username: null, inIdToken: true },
  sessionMaxAgeSeconds: null,
  offline: "keep",
  consent: "never",
  algorithm: "RS256",
};

const MINUTE_MS = 60_000;
const NOW = Date.UTC(2026, 0, 1);

/** Grants with one refresh token, of a login ten minutes ago whose session has ended. */
function createWithToken() {
  const token: ClientToken = {
    ...{ client: "app", userId: "1", sid: "a", scope: "openid email offline_access", method: null, nonce: null },
    ...{ digest: "a", kind: "refresh", family: "a", issuedAt: NOW, expiresAt: NOW + MINUTE_MS },
    authenticatedAt: NOW - 10 * MINUTE_MS,
  };
  const added: ClientToken[] = [];
  const store: Pick<ClientStore, "findToken" | "rotate"> = {
    findToken: async () => token,
    rotate: async (_, next) => added.push(...next) > 0,
  };
  const parts: Partial<GrantParts> = {
    store: store as ClientStore,
    sessions: { current: async () => null },
    keys: { sign: async () => "signed", verify: async () => null, published: async () => [] },
    people: onePerson({ email: "ada@example.com" }),
    now: () => NOW,
  };
  return { grants: createGrants(parts as GrantParts), added };
}

suite("a refresh", () => {
  test("needs a login that is not older than sessionMaxAge, whatever outlives the session", async () => {
    const { grants } = createWithToken();
    const refresh = async (sessionMaxAgeSeconds: number | null) =>
      (await grants.refresh({ ...CLIENT, sessionMaxAgeSeconds }, new Map([["refresh_token", "a"]]))).ok;
    assert.deepEqual([await refresh(null), await refresh(601), await refresh(600)], [true, true, false]);
  });

  test("may ask for less, and its access token still outlives the session", async () => {
    const { grants, added } = createWithToken();
    const sent = new Map([
      ["refresh_token", "a"],
      ["scope", "openid  openid"],
    ]);
    const granted = await grants.refresh(CLIENT, sent);
    assert.equal(granted.ok && granted.answer.scope, "openid offline_access");
    const scopes = added.map(({ kind, scope }) => [kind, scope]);
    assert.deepEqual(scopes, [
      ["access", "openid offline_access"],
      ["refresh", "openid email offline_access"],
    ]);
  });
});

test("a login waits until its app was told of that person's earlier session, and not of another's", async () => {
  const client = { ...CLIENT, logout: { backchannel: "https://app.example.com", after: [] } };
  const untold = { client: "app", sid: "earlier", since: NOW, attempts: 0, dueAt: 0, error: null };
  const readsOf = async (userId: string) => {
    let reads = 0;
    const store: Pick<ClientStore, "participations" | "addCode"> = {
      participations: async () => (reads++ === 0 ? [{ ...untold, userId }] : []),
      addCode: async () => {},
    };
    const grants = createGrants({ store, now: () => NOW } as GrantParts);
    const request: Partial<AuthorizationRequest> = { client };
    await grants.code(
      request as AuthorizationRequest,
      { sub: "ada", sid: "now" },
      { authenticatedAt: NOW, method: null },
    );
    return reads;
  };
  assert.deepEqual([await readsOf("ada"), await readsOf("ben")], [2, 1]);
});
