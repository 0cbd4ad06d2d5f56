import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { type Answer, assertProblem, logIn, me } from "../../helpers/client.ts";
import { EMAIL, JWT_SECRET, OTHER_JWT_SECRET, PASSWORD } from "../../helpers/credentials.ts";
import { serveRefused, startServer } from "../../helpers/server.ts";
import { claimsOf, encode, forge, HEADER } from "../../helpers/sign.ts";

const server = await startServer({ env: { JWT_SECRET_PREVIOUS: OTHER_JWT_SECRET } });
after(() => server[Symbol.asyncDispose]());

const claims = claimsOf(await logIn(server));
const genuine = forge(HEADER, claims);

/** Asserts 401, with nothing of the request in the answer. */
function assertRefused(answer: Answer): void {
  assertProblem(answer, 401, "invalid_token", "Unauthorized");
  assert.equal(answer.headers.get("www-authenticate"), 'Bearer error="invalid_token"');
  assert.doesNotMatch(answer.text, /\n\s+at |alg|jwt|HS256/i);
}

async function refuses(tokens: readonly string[]): Promise<void> {
  for (const token of tokens) assertRefused(await me(server, token));
  assert.equal((await me(server, genuine)).status, 200);
}

test("J1 alg none in any case is refused, with an empty and with a valid signature", () =>
  refuses(
    ["none", "None", "nOnE", "NONE", ""].flatMap((alg) => [
      forge({ ...HEADER, alg }, claims, { signature: "" }),
      forge({ ...HEADER, alg }, claims),
    ]),
  ));

test("J2 another algorithm with an HS256 MAC is refused", () =>
  refuses(
    ["RS256", "ES256", "PS256", "EdDSA", "hs256", "HS256 "].flatMap((alg) => [
      forge({ ...HEADER, alg }, claims),
      forge({ ...HEADER, alg }, claims, {
        secret: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----\n",
      }),
    ]),
  ));

test("J3 HS384 and HS512 with the same secret are refused", () =>
  refuses([
    forge({ ...HEADER, alg: "HS384" }, claims, { hash: "sha384" }),
    forge({ ...HEADER, alg: "HS512" }, claims, { hash: "sha512" }),
    forge(HEADER, claims, { hash: "sha512" }),
  ]));

test("J4 ES256 with 64 zero bytes is refused", () =>
  refuses([forge({ ...HEADER, alg: "ES256" }, claims, { signature: Buffer.alloc(64).toString("base64url") })]));

test("J5 a kid is refused, with any value and any key", () =>
  refuses(
    ["' OR 1=1--", "../../../../../dev/null", 5, {}, "x".repeat(8000), "unknown"].flatMap((kid) => [
      forge({ ...HEADER, kid }, claims),
      forge({ ...HEADER, kid }, claims, { secret: "" }),
    ]),
  ));

test("J6 a token that names its own key is refused, and the key is never fetched", async () => {
  let connections = 0;
  const listener = createServer((_, response) => response.end("{}")).on("connection", () => connections++);
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/keys`;
    const jwk = { kty: "oct", k: encode("key of the attacker"), alg: "HS256" };
    const secret = "key of the attacker";
    await refuses(
      [{ jku: url }, { x5u: url }, { jwk }, { x5c: ["MIIB"] }, { jku: url, kid: "1" }].flatMap((more) => [
        forge({ ...HEADER, ...more }, claims),
        forge({ ...HEADER, ...more }, claims, { secret }),
      ]),
    );
    assert.equal(connections, 0);
  } finally {
    listener.close();
  }
});

test("J7 crit and b64 are refused in every form", () =>
  refuses(
    [
      { crit: ["x"] },
      { crit: [] },
      { crit: "b64" },
      { crit: ["b64"], b64: true },
      { crit: ["b64"], b64: false },
      { b64: false },
      { crit: null },
      { crit: ["exp"] },
    ].map((more) => forge({ ...HEADER, ...more }, claims)),
  ));

test("J8 a repeated name in the header or the payload is refused", () => {
  const payload = JSON.stringify(claims);
  const twice = (name: string, value: unknown) =>
    `{${JSON.stringify(name)}:${JSON.stringify(value)},${payload.slice(1)}`;
  return refuses([
    forge('{"alg":"none","alg":"HS256","typ":"JWT"}', payload),
    forge('{"alg":"HS256","typ":"JWT","alg":"HS256"}', payload),
    ...[
      twice("exp", claims.exp),
      twice("sub", claims.sub),
      twice("sid", claims.sid),
      twice("exp", 1),
      `{"\\u0073id":"x",${payload.slice(1)}`,
    ].map((text) => forge(HEADER, text)),
  ]);
});

test("J10 another issuer, an audience or another type is refused", () =>
  refuses([
    forge(HEADER, { ...claims, iss: "https://issuer.example.com" }),
    forge(HEADER, { ...claims, aud: "authserve" }),
    forge(HEADER, { ...claims, aud: ["authserve", "other"] }),
    forge({ alg: "HS256", typ: "at+jwt" }, claims),
    forge({ alg: "HS256", typ: "jwt" }, claims),
    forge({ alg: "HS256" }, claims),
    forge({ ...HEADER, cty: "JWT" }, claims),
  ]));

test("J12 an encrypted token with a giant iteration count or a compression bomb is refused", async () => {
  const part = (bytes: number) => Buffer.alloc(bytes, 7).toString("base64url");
  const pbes2 = { alg: "PBES2-HS256+A128KW", enc: "A128GCM", p2s: part(16), p2c: 2_147_483_647 };
  const bomb = { alg: "dir", enc: "A128GCM", zip: "DEF" };
  const tokens = [pbes2, bomb].map((header) => [encode(header), part(40), part(12), part(1000), part(16)].join("."));
  // So many iterations take half an hour.
  await refuses(tokens);
});

test("J14 a weak or publicly known JWT_SECRET is refused at the start without being shown", async () => {
  const cases = [
    { name: "JWT_SECRET", value: "secret" },
    { name: "JWT_SECRET", value: "a-string-secret-at-least-256-bits-long" },
    { name: "JWT_SECRET_PREVIOUS", value: "a".repeat(64) },
  ];
  await Promise.all(
    cases.map(async ({ name, value }) => {
      const { code, stdout, stderr } = await serveRefused({ [name]: value });
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`^error: ${name} .*\n  hint: make one with openssl`));
      // This word is part of the message itself.
      if (value !== "secret") assert.ok(!(stdout + stderr).includes(value));
    }),
  );
});

test("J15 a token of the previous secret is accepted while configured, and new tokens use the new secret", async () => {
  await using rotated = await startServer({ env: { JWT_SECRET_PREVIOUS: OTHER_JWT_SECRET } });
  const token = await logIn(rotated, { email: EMAIL, password: PASSWORD });
  const [header = "", payload = ""] = token.split(".");
  assert.equal(
    token,
    forge(Buffer.from(header, "base64url"), Buffer.from(payload, "base64url"), { secret: JWT_SECRET }),
  );
  const old = forge(HEADER, claimsOf(token), { secret: OTHER_JWT_SECRET });
  assert.equal((await me(rotated, old)).status, 200);
  await rotated.stop();
  await using ended = await startServer({ dir: rotated.dir });
  assertRefused(await me(ended, old));
  assert.equal((await me(ended, token)).status, 200);
});
