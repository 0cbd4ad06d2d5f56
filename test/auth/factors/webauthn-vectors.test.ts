import assert from "node:assert/strict";
import { createHash, createPrivateKey, sign } from "node:crypto";
import { suite, type TestContext, test } from "node:test";
import { decodeAttestationObject, isoCBOR } from "@simplewebauthn/server/helpers";
import { addFactor } from "../../../src/auth/factors/manage.ts";
import { createPasskeyLogin } from "../../../src/auth/factors/passkey-login.ts";
import { newPasskey } from "../../../src/auth/factors/passkeys.ts";
import { factorsOf } from "../../../src/auth/factors/store.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import published from "../../fixtures/webauthn-vectors.json" with { type: "json" };
import { attestationWithout } from "../../helpers/authenticator.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { recordingLog } from "../../helpers/log.ts";
import { onePerson } from "../../helpers/people.ts";

type Vector = (typeof published.vectors)[number];

const SITE = { rpId: "example.org", origin: "https://example.org" };
const NOW = 1_800_000_000_000;
const FROM = { address: "192.0.2.1", requestId: "r", way: "form" as const };

/** Where the flags are in the data of an authenticator (WebAuthn level 3, 6.1). The counter follows. */
const FLAGS_AT = 32;
const PRESENT = 0x01;
const VERIFIED = 0x04;
/** That of a passkey that several devices may have, and that of one they have. */
const SYNCED = 0x18;

const bytesOf = (text: string) => Buffer.from(text, "base64url");
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");

const answerOf = (id: string, response: object) =>
  JSON.stringify({ id, rawId: id, type: "public-key", response, clientExtensionResults: {} });

/** The registration as published. */
const registrationOf = ({ credentialId, registration: { clientDataJSON, attestationObject } }: Vector) =>
  answerOf(credentialId, { clientDataJSON, attestationObject });

/** The registration of the same credential without attestation, whose user was verified. */
function verifiedRegistrationOf({ credentialId, registration: { clientDataJSON, attestationObject } }: Vector): string {
  const authData = Buffer.from(decodeAttestationObject(new Uint8Array(bytesOf(attestationObject))).get("authData"));
  authData[FLAGS_AT] = Number(authData[FLAGS_AT]) | VERIFIED;
  return answerOf(credentialId, { clientDataJSON, attestationObject: textOf(attestationWithout(authData)) });
}

async function faultOf(answer: string, { registration: { challenge } }: Vector): Promise<string | null> {
  const made = await newPasskey(answer, SITE, challenge, "1");
  return "fault" in made ? made.fault : null;
}

/** What an authenticator is made to do otherwise. The result is signed anew. */
interface Changes {
  clientData?: Record<string, unknown>;
  authData?: (authData: Buffer) => Buffer;
  privateKey?: string | null;
}

/** The authentication as published, with changes, signed with the published key. */
function signedAnew({ authentication, privateKey }: Vector, changes: Changes) {
  const clientData = Buffer.from(
    JSON.stringify({ ...JSON.parse(bytesOf(authentication.clientDataJSON).toString()), ...changes.clientData }),
  );
  const { authData: change = (authData: Buffer) => authData } = changes;
  const authData = change(bytesOf(authentication.authenticatorData));
  const key = createPrivateKey({
    key: bytesOf(String(changes.privateKey ?? privateKey)),
    format: "der",
    type: "pkcs8",
  });
  const signed = Buffer.concat([authData, createHash("sha256").update(clientData).digest()]);
  const signature = sign(key.asymmetricKeyType === "ed25519" ? null : "sha256", signed, key);
  return {
    clientDataJSON: textOf(clientData),
    authenticatorData: textOf(authData),
    signature: textOf(signature),
  };
}

const withFlags =
  (set: number, clear = 0) =>
  (authData: Buffer) => {
    authData[FLAGS_AT] = (Number(authData[FLAGS_AT]) | set) & ~clear;
    return authData;
  };

const withCounter = (counter: number) => (authData: Buffer) => {
  authData.writeUInt32BE(counter, FLAGS_AT + 1);
  return withFlags(VERIFIED, SYNCED)(authData);
};

async function open(t: TestContext, ...vectors: readonly Vector[]) {
  const all = localStores(tempDatabase(t).database).factors;
  const store = factorsOf(all, "");
  const { log, named } = recordingLog();
  const used = new Set<string>();
  const steps = { finish: async (id: string) => !used.has(id) && used.add(id).size > 0 };
  const openSession = async () => ({ accessToken: "token" });
  const audit = async () => 1;
  const handles = new Map<string, string>();
  for (const vector of vectors) {
    const made = await newPasskey(verifiedRegistrationOf(vector), SITE, vector.registration.challenge, "1");
    assert.ok(!("fault" in made), JSON.stringify(made));
    handles.set(vector.credentialId, JSON.parse(made.data).userHandle);
    await addFactor(store, { ...made, kind: "passkey", name: vector.section, createdAt: NOW });
  }
  const logIn = createPasskeyLogin({
    people: onePerson(),
    factorsOf: () => store,
    listAll: all.listAll,
    steps,
    site: SITE,
    openSessionOf: () => openSession,
    audit,
    log,
    now: () => NOW,
  });

  /** Logs in with what an authenticator answers to the published challenge, or to another one. */
  function use({ credentialId, authentication }: Vector, response: object, challenge = authentication.challenge) {
    return logIn(answerOf(credentialId, { userHandle: handles.get(credentialId), ...response }), challenge, FROM);
  }
  const reason = () => String(named("passkey_refused").at(-1)?.reason);
  return { use, reason };
}

const vectorOf = (section: string) => published.vectors.find((vector) => vector.section === section) as Vector;

const UNVERIFIED = /User verification/;
const IN_FRAME = /frame of another site/;
const NOT_OFFERED = /public key alg/;

/** Why published registrations are refused, by their section. Others are accepted. */
const REFUSED: Record<string, RegExp> = {
  "none-es256": UNVERIFIED,
  "none-es256-crossOrigin": IN_FRAME,
  "none-es256-topOrigin": IN_FRAME,
  "none-es256-long-credential-id": UNVERIFIED,
  "packed-es384": UNVERIFIED,
  "packed-es512": NOT_OFFERED,
  "packed-eddsa": UNVERIFIED,
  "packed-ed448": UNVERIFIED,
  "apple-es256": UNVERIFIED,
  "fido-u2f-es256": UNVERIFIED,
};

/** Why they are refused without attestation, once their users were verified. */
const REFUSED_IF_VERIFIED: Record<string, RegExp> = {
  "none-es256-crossOrigin": IN_FRAME,
  "none-es256-topOrigin": IN_FRAME,
  "packed-es384": NOT_OFFERED,
  "packed-es512": NOT_OFFERED,
  "packed-ed448": NOT_OFFERED,
};

const OFFERED = published.vectors.filter(({ section }) => !(section in REFUSED_IF_VERIFIED));

suite("a test vector of WebAuthn level 3", () => {
  for (const vector of published.vectors)
    test(`registers, or is refused with the reason: ${vector.section}`, async () => {
      for (const [answer, expected] of [
        [registrationOf(vector), REFUSED[vector.section]],
        [verifiedRegistrationOf(vector), REFUSED_IF_VERIFIED[vector.section]],
      ] as const) {
        const fault = await faultOf(answer, vector);
        if (expected === undefined) assert.equal(fault, null);
        else assert.match(String(fault), expected);
      }
    });

  for (const vector of OFFERED)
    test(`logs in if its user was verified, and once: ${vector.section}`, async (t) => {
      const { use, reason } = await open(t, vector);
      const isVerified = Number(bytesOf(vector.authentication.authenticatorData)[FLAGS_AT]) & VERIFIED;
      if (!isVerified) {
        await failsWith("invalid_passkey", use(vector, vector.authentication));
        assert.match(reason(), UNVERIFIED);
      }
      const response = isVerified ? vector.authentication : signedAnew(vector, { authData: withFlags(VERIFIED) });
      assert.deepEqual(await use(vector, response), { accessToken: "token" });
      await failsWith("invalid_passkey", use(vector, response));
      assert.match(reason(), /used before/);
    });
});

// Firefox passed attestation on though none was asked for: https://github.com/w3c/webauthn/issues/1485. Its maker may not
// be known: https://github.com/MasterKale/SimpleWebAuthn/issues/665, and certificates of some last for minutes.
suite("an attestation that nobody asked for", () => {
  const vector = vectorOf("packed-es256");
  const { clientDataJSON, attestationObject } = vector.registration;
  const decoded = () => decodeAttestationObject(new Uint8Array(bytesOf(attestationObject)));
  const attested = (fmt: string, attStmt: Map<string, unknown>) => {
    const members = new Map<string, unknown>([
      ["fmt", fmt],
      ["attStmt", attStmt],
      ["authData", decoded().get("authData")],
    ]);
    const changed = textOf(isoCBOR.encode(members as Parameters<typeof isoCBOR.encode>[0]));
    return answerOf(vector.credentialId, { clientDataJSON, attestationObject: changed });
  };

  test("is no reason to refuse a passkey if its form is not known", async () => {
    assert.equal(await faultOf(attested("compound-of-later-years", new Map([["x", 1]])), vector), null);
  });

  test("is one if its signature is wrong", async () => {
    const statement = new Map(decoded().get("attStmt") as unknown as Map<string, unknown>);
    const signature = Buffer.from(statement.get("sig") as Uint8Array);
    signature[20] = Number(signature[20]) ^ 1;
    statement.set("sig", new Uint8Array(signature));
    assert.equal(await faultOf(attested("packed", statement), vector), "its signature is wrong");
  });
});

const BY_ALGORITHM = ["packed-es256", "packed-eddsa", "packed-rs256"].map(vectorOf);
const OTHERS_KEY = vectorOf("none-es256").privateKey;
const OTHER_RP_ID = createHash("sha256").update("example.com").digest();

/** What is wrong with an answer whose signature is right. */
const ATTACKS: [string, Changes, RegExp][] = [
  ["without a present user", { authData: withFlags(VERIFIED, PRESENT) }, /not present/],
  ["without a verified user", { authData: withFlags(0, VERIFIED) }, UNVERIFIED],
  ["for another origin", { clientData: { origin: "https://www.example.org" } }, /origin/],
  ["for another scheme", { clientData: { origin: "http://example.org" } }, /origin/],
  [
    "for another RP ID",
    { authData: (data) => Buffer.concat([OTHER_RP_ID, withFlags(VERIFIED)(data).subarray(FLAGS_AT)]) },
    /RP ID/,
  ],
  ["in a frame of another site", { clientData: { crossOrigin: true } }, IN_FRAME],
  ["with the origin of a page above it", { clientData: { topOrigin: "https://example.com" } }, IN_FRAME],
  ["of a registration", { clientData: { type: "webauthn.create" } }, /type/],
  ["to another challenge", { clientData: { challenge: textOf(Buffer.alloc(32, 7)) } }, /challenge/],
  ["of another passkey", { authData: withFlags(VERIFIED), privateKey: OTHERS_KEY }, /./],
  ["that is backed up and cannot be", { authData: withFlags(VERIFIED | 0x10, 0x08) }, /backed up/],
  ["of a cut authenticator", { authData: (data) => withFlags(VERIFIED)(data).subarray(0, -1) }, /./],
  ["with bytes behind it", { authData: (data) => Buffer.concat([withFlags(VERIFIED)(data), data]) }, /./],
];

suite("an answer that is signed with the right key is refused", () => {
  for (const vector of BY_ALGORITHM)
    for (const [what, changes, expected] of ATTACKS)
      test(`${what}: ${vector.section}`, async (t) => {
        const { use, reason } = await open(t, vector);
        await failsWith("invalid_passkey", use(vector, signedAnew(vector, changes)));
        assert.match(reason(), expected);
        await use(vector, signedAnew(vector, { authData: withFlags(VERIFIED) }));
      });

  for (const vector of BY_ALGORITHM)
    test(`when its counter stays or goes back: ${vector.section}`, async (t) => {
      const { use, reason } = await open(t, vector);
      const count = (counter: number) => {
        const challenge = textOf(Buffer.alloc(32, counter));
        return use(
          vector,
          signedAnew(vector, { clientData: { challenge }, authData: withCounter(counter) }),
          challenge,
        );
      };
      await count(9);
      for (const counter of [8, 0]) await failsWith("invalid_passkey", count(counter));
      assert.match(reason(), /has not grown/);
      await count(10);
    });

  test("under the id of another passkey, or with the handle of another user", async (t) => {
    const [one, other] = [vectorOf("packed-es256"), vectorOf("none-es256")];
    const { use, reason } = await open(t, one, other);
    const response = signedAnew(one, { authData: withFlags(VERIFIED) });
    await failsWith("invalid_passkey", use(other, response, one.authentication.challenge));
    assert.match(reason(), /signature/);
    for (const userHandle of [textOf(Buffer.from("2")), "", null, undefined]) {
      await failsWith("invalid_passkey", use(one, { ...response, userHandle }));
      assert.match(reason(), /user handle/);
    }
    await failsWith("invalid_passkey", use(vectorOf("packed-eddsa"), response, one.authentication.challenge));
    assert.match(reason(), /not known/);
  });
});
