import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from "jose";
import { AppError } from "../../errors.ts";
import type { Client } from "./client.ts";
import { type PlannedKey, PUBLISHED_BEFORE_MS, planOf, ROTATE_AFTER_MS, UNREADABLE_REMEDY } from "./key-rotation.ts";
import type { ClientStore, SigningKeyRecord, StoredSigningKey } from "./store.ts";

type Algorithm = Client["algorithm"];
type KeyStore = Pick<ClientStore, "signingKeys" | "addSigningKey" | "removeSigningKeys">;

/** Another server or a command may have made a key: what is known is read again after so long. */
const REREAD_MS = 60_000;

/** The `typ` of ID tokens. Logout tokens, with another one, are no ID tokens. */
export const ID_TOKEN_TYPE = "JWT";

/**
 * Signs tokens for apps, and publishes the keys that verify them. `sign` and `published` throw
 * `signing_key_unreadable` if the key cannot be decrypted.
 */
export interface SigningKeys {
  /** Signs claims. `type` is the `typ` of the header. */
  sign(claims: Record<string, unknown>, algorithm: Algorithm, type: string): Promise<string>;
  /** The claims of an ID token that a key has signed for this issuer, also if it has expired. Null for others. */
  verify(token: string, issuer: string): Promise<Record<string, unknown> | null>;
  /** The public keys. */
  published(): Promise<JWK[]>;
}

interface KeyParts {
  store: KeyStore;
  /** Unix milliseconds. */
  now(): number;
}

/** Creates what signs. A first key is made when it is needed, and another one for each algorithm every 90 days. */
export function createSigningKeys({ store, now }: KeyParts): SigningKeys {
  let known: { records: Promise<readonly StoredSigningKey[]>; at: number } | undefined;

  async function records(): Promise<readonly StoredSigningKey[]> {
    if (known === undefined || now() - known.at >= REREAD_MS) known = { records: store.signingKeys(), at: now() };
    let isReadableKey = false;
    try {
      const all = await known.records;
      isReadableKey = all.some(isReadable);
      return all;
    } finally {
      // A command may make a key in place of lost ones.
      if (!isReadableKey) known = undefined;
    }
  }

  const making = new Map<Algorithm, Promise<void>>();

  /** Makes a key, once for all that ask at the same time. */
  function add(algorithm: Algorithm, signsFrom: number): Promise<void> {
    const made = making.get(algorithm) ?? make(algorithm, signsFrom).finally(() => making.delete(algorithm));
    making.set(algorithm, made);
    return made;
  }

  async function make(algorithm: Algorithm, signsFrom: number): Promise<void> {
    await store.addSigningKey(await createKey(algorithm, now(), signsFrom));
    known = undefined;
  }

  /** Makes a key that is due, and removes old ones. */
  async function keep(algorithm: Algorithm): Promise<void> {
    const plan = planOf(await records(), algorithm, now());
    // Two servers may both make a first one: then both are published, and the newest signs.
    if (plan.every(({ state }) => state === "waits")) return add(algorithm, now());
    const isDue = ({ state, key, signsUntil }: PlannedKey) =>
      state === "signs" && signsUntil === null && now() - key.signsFrom >= ROTATE_AFTER_MS;
    if (plan.some(isDue)) await add(algorithm, now() + PUBLISHED_BEFORE_MS);
    const old = plan.filter(({ keptUntil }) => keptUntil !== null && keptUntil < now());
    if (old.length === 0) return;
    await store.removeSigningKeys(old.map(({ key }) => key.id));
    known = undefined;
  }

  /** The key that signs now. */
  async function signing(algorithm: Algorithm): Promise<SigningKeyRecord> {
    await keep(algorithm);
    return signingIn(await records(), algorithm, now());
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
            const record = all.filter(isReadable).find(({ id, algorithm }) => id === kid && algorithm === alg);
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
        await keep(algorithm);
      const all = await records();
      const readable = all.filter(isReadable);
      if (readable.length === 0) throw unreadable(all);
      return readable.map(publicKeyOf);
    },
  };
}

/** Makes a key. */
async function createKey(algorithm: Algorithm, createdAt: number, signsFrom: number): Promise<SigningKeyRecord> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const text = JSON.stringify(await exportJWK(privateKey));
  return { id: randomUUID(), algorithm, privateKey: text, createdAt, signsFrom };
}

type ReadableKey = Extract<StoredSigningKey, { fault: null }>;

const isReadable = (key: StoredSigningKey): key is ReadableKey => key.fault === null;

/** The key of an algorithm that signs at a time. Throws if it cannot be read. */
function signingIn(all: readonly StoredSigningKey[], algorithm: Algorithm, now: number): ReadableKey {
  const plan = planOf(all, algorithm, now);
  const current = plan.find(({ state }) => state === "signs")?.key;
  if (current === undefined || !isReadable(current)) throw unreadable(plan.map(({ key }) => key));
  return current;
}

/** The error for keys of which the newest cannot be read. */
function unreadable(keys: readonly StoredSigningKey[]): AppError {
  const { id, fault } = keys.findLast((key) => !isReadable(key)) ?? {};
  return new AppError("signing_key_unreadable", { cause: new Error(`the key ${id} ${fault}: ${UNREADABLE_REMEDY}`) });
}

/**
 * Makes the next key of each algorithm that has one, and returns them. Where a key waits already, none is made.
 * `atOnce`: they sign from now on, also in place of keys that cannot be read. Otherwise this throws
 * `signing_key_unreadable` if the key that signs cannot.
 */
export async function rotateKeys(
  store: Pick<KeyStore, "signingKeys" | "addSigningKey">,
  now: number,
  { atOnce }: { atOnce: boolean },
): Promise<SigningKeyRecord[]> {
  const all = await store.signingKeys();
  const algorithms = [...new Set(all.map(({ algorithm }) => algorithm))];
  const due = algorithms.filter((one) => atOnce || planOf(all, one, now).every(({ state }) => state !== "waits"));
  if (!atOnce) for (const algorithm of due) signingIn(all, algorithm, now);
  const signsFrom = atOnce ? now : now + PUBLISHED_BEFORE_MS;
  const made = await Promise.all(due.map((algorithm) => createKey(algorithm, now, signsFrom)));
  for (const key of made) await store.addSigningKey(key);
  return made;
}

/** The public part of a key, as it is published (RFC 7517). */
function publicKeyOf({ id, algorithm, privateKey }: ReadableKey): JWK {
  const { kty, n, e, crv, x, y } = JSON.parse(privateKey) as Required<JWK>;
  const own = algorithm === "RS256" ? { n, e } : { crv, x, y };
  return { kty, ...own, kid: id, alg: algorithm, use: "sig" };
}
