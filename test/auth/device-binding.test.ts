import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { suite, test } from "node:test";
import { createDeviceBinding } from "../../src/auth/device-binding.ts";
import { newKey, proofOf } from "../helpers/device.ts";

const SECRETS = ["3kX9vQ2mZ7pL4tR8wY1cB6nH5jD0sF-gA"];
const SID = "form-7e0b6f0c-52a1-4c35-9d3b-1f7f6a0e3c11";
const NOW = 1_800_000_000_000.5;
const MINUTE = 60_000;

const at = (now: number, secrets = SECRETS) => createDeviceBinding({ secrets, proofSeconds: 600, now: () => now });
const binding = at(NOW);
const key = await newKey();
const device = { publicKey: JSON.stringify({ ...key.jwk, alg: "ES256" }), challengedAt: 0, boundFrom: null };

test("a key is registered as it is public, with ES256 and RS256", async () => {
  for (const one of [key, await newKey("RS256")]) {
    const jti = binding.registrationChallenge(SID);
    const more = { ...one.jwk, kid: "1", use: "sig" };
    const read = await binding.readKey(SID, await proofOf(one, { jti }, more));
    assert.ok("publicKey" in read);
    assert.deepEqual(JSON.parse(read.publicKey), { ...one.jwk, alg: one.alg });
  }
});

test("an RSA key of less than 2,048 bits is refused", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const [header, payload] = [
    { alg: "RS256", typ: "dbsc+jwt", jwk: publicKey.export({ format: "jwk" }) },
    { jti: binding.registrationChallenge(SID) },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  const signed = `${header}.${payload}`;
  const jwt = `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
  assert.ok("fault" in (await binding.readKey(SID, jwt)));
});

suite("a challenge", () => {
  const answer = async (challenge: string, server = binding, known = device) =>
    server.readAnswer(SID, known, await proofOf(key, { jti: challenge }));

  test("lasts five minutes", async () => {
    const challenge = binding.challenge(SID, device);
    assert.deepEqual(await answer(challenge), { challengedAt: Math.floor(NOW) });
    assert.ok("challengedAt" in (await answer(challenge, at(NOW + 5 * MINUTE - 1000))));
    assert.ok("fault" in (await answer(challenge, at(NOW + 5 * MINUTE))));
  });

  test("of a server whose clock is ahead is taken, by up to a minute", async () => {
    assert.ok("challengedAt" in (await answer(at(NOW + MINUTE - 1000).challenge(SID, device))));
    assert.ok("fault" in (await answer(at(NOW + 2 * MINUTE).challenge(SID, device))));
  });

  test("is newer than the last one that was signed, also if the clock is behind", async () => {
    const known = { ...device, challengedAt: Math.floor(NOW) + 1000 };
    assert.deepEqual(await answer(binding.challenge(SID, known), binding, known), {
      challengedAt: Math.floor(NOW) + 1001,
    });
    assert.ok("fault" in (await answer(binding.challenge(SID, device), binding, known)));
  });

  test("of another secret, another session or a registration is refused", async () => {
    const others = [
      at(NOW, ["another secret of the tests, of 32 bytes"]).challenge(SID, device),
      binding.challenge(SID.replace("7", "8"), device),
      binding.registrationChallenge(SID),
    ];
    for (const challenge of others) assert.ok("fault" in (await answer(challenge)), challenge);
  });
});

test("a proof is of one session, and counts longer than the browser keeps it", () => {
  const proof = binding.proof(SID);
  assert.equal(binding.cookieSeconds, 540);
  assert.equal(binding.isProved(SID, ["junk", proof]), true);
  assert.equal(binding.isProved(SID.replace("7", "8"), [proof]), false);
  assert.equal(at(NOW + 10 * MINUTE - 1).isProved(SID, [proof]), true);
  assert.equal(at(NOW + 10 * MINUTE).isProved(SID, [proof]), false);
  assert.equal(at(NOW, ["new", ...SECRETS]).isProved(SID, [proof]), true);
});
