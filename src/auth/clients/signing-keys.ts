import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from "jose";
import { DAY_MS, HOUR_MS } from "../../lib/durations.ts";
import type { Client } from "./client.ts";
import type { ClientStore, SigningKeyRecord } from "./store.ts";

type Algorithm = Client["algorithm"];

/** How long apps may keep the published keys. */
export const KEYS_MAX_AGE_SECONDS = 3600;
/** A key is published for so long before it signs, so that every app has it. */
const PUBLISHED_BEFORE_MS = 2 * KEYS_MAX_AGE_SECONDS * 1000;
const ROTATE_AFTER_MS = 90 * DAY_MS;
/** A key that signs no more stays published for so long, for tokens that it has signed. */
const KEPT_AFTER_MS = DAY_MS + HOUR_MS;
/** Another server may have made a key: what is known is read again after so long. */
const REREAD_MS = 60_000;

/** The `typ` of ID tokens. Logout tokens, with another one, are no ID tokens. */
export const ID_TOKEN_TYPE = "JWT";

/** Signs tokens for apps, and publishes the keys that verify them. */
export interface SigningKeys {
  /** Signs claims. `type` is the `typ` of the header. */
  sign(claims: Record<string, unknown>, algorithm: Algorithm, type: string): Promise<string>;
  /** The claims of an ID token that a key has signed for this issuer, also if it has expired. Null for others. */
  verify(token: string, issuer: string): Promise<Record<string, unknown> | null>;
  /** The public keys. */
  published(): Promise<JWK[]>;
}

interface KeyParts {
  store: Pick<ClientStore, "signingKeys" | "addSigningKey" | "removeSigningKeys">;
  /** Unix milliseconds. */
  now(): number;
}

/** Creates what signs. A first key is made when it is needed, and another one for each algorithm every 90 days. */
export function createSigningKeys({ store, now }: KeyParts): SigningKeys {
  let known: { records: readonly SigningKeyRecord[]; at: number } | undefined;

  async function records(): Promise<readonly SigningKeyRecord[]> {
    if (known === undefined || now() - known.at >= REREAD_MS) known = { records: await store.signingKeys(), at: now() };
    return known.records;
  }

  const making = new Map<Algorithm, Promise<void>>();

  /** Makes a key, once for all that ask at the same time. */
  function add(algorithm: Algorithm, signsFrom: number): Promise<void> {
    const made = making.get(algorithm) ?? make(algorithm, signsFrom).finally(() => making.delete(algorithm));
    making.set(algorithm, made);
    return made;
  }

  async function make(algorithm: Algorithm, signsFrom: number): Promise<void> {
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
    const record = { id: randomUUID(), algorithm, createdAt: now(), signsFrom };
    await store.addSigningKey({ ...record, privateKey: JSON.stringify(await exportJWK(privateKey)) });
    known = undefined;
  }

  /** The key that signs now: the newest whose time has come. One that is due is made. */
  async function signing(algorithm: Algorithm): Promise<SigningKeyRecord> {
    const own = (await records()).filter((key) => key.algorithm === algorithm);
    const current = own.findLast(({ signsFrom }) => signsFrom <= now());
    if (current === undefined) {
      // Two servers may both make a first one: then both are published, and the newest signs.
      await add(algorithm, now());
      return signing(algorithm);
    }
    const isNewest = own.at(-1) === current;
    if (isNewest && now() - current.signsFrom >= ROTATE_AFTER_MS) await add(algorithm, now() + PUBLISHED_BEFORE_MS);
    const old = own.filter(
      (_, index) => (own[index + 1]?.signsFrom ?? Number.POSITIVE_INFINITY) < now() - KEPT_AFTER_MS,
    );
    if (old.length > 0) await store.removeSigningKeys(old.map(({ id }) => id));
    return current;
  }

  return {
    async sign(claims, algorithm, type) {
      const { id, privateKey } = await signing(algorithm);
      const key = await importJWK(JSON.parse(privateKey) as JWK, algorithm);
      return new SignJWT(claims).setProtectedHeader({ alg: algorithm, typ: type, kid: id }).sign(key);
    },
    async verify(token, issuer) {
      const all = await records();
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid, alg }) => {
            const record = all.find(({ id, algorithm }) => id === kid && algorithm === alg);
            if (record === undefined) throw new Error("no such key");
            return importJWK(publicKeyOf(record), record.algorithm);
          },
          { issuer, typ: ID_TOKEN_TYPE, currentDate: new Date(0), clockTolerance: Number.MAX_SAFE_INTEGER },
        );
        return payload;
      } catch {
        return null;
      }
    },
    async published() {
      for (const algorithm of new Set<Algorithm>(["RS256", ...(await records()).map((key) => key.algorithm)]))
        await signing(algorithm);
      return (await records()).map(publicKeyOf);
    },
  };
}

/** The public part of a key, as it is published (RFC 7517). */
function publicKeyOf({ id, algorithm, privateKey }: SigningKeyRecord): JWK {
  const { kty, n, e, crv, x, y } = JSON.parse(privateKey) as Required<JWK>;
  const own = algorithm === "RS256" ? { n, e } : { crv, x, y };
  return { kty, ...own, kid: id, alg: algorithm, use: "sig" };
}
