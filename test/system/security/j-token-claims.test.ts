import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Answer, assertProblem, logIn, me } from "../../helpers/client.ts";
import { request } from "../../helpers/raw-http.ts";
import { startServer } from "../../helpers/server.ts";
import { claimsOf, encode, forge, HEADER } from "../../helpers/sign.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const claims = claimsOf(await logIn(server));
const genuine = forge(HEADER, claims);
const now = () => Math.floor(Date.now() / 1000);

function assertRefused(answer: Answer): void {
  assertProblem(answer, 401, "invalid_token", "Unauthorized");
}

async function refuses(tokens: readonly string[]): Promise<void> {
  for (const token of tokens) assertRefused(await me(server, token));
  assert.equal((await me(server, genuine)).status, 200);
}

/** The payload with one member replaced by a JSON text. */
const raw = (name: string, text: string) => {
  const { [name as keyof typeof claims]: _, ...others } = claims;
  return `{"${name}":${text},${JSON.stringify(others).slice(1)}`;
};

test("J9 an exp that is missing, not an integer or not in the future is refused", () => {
  const { exp: _, ...without } = claims;
  return refuses([
    forge(HEADER, without),
    ...[`"${claims.exp}"`, `${claims.exp}.5`, "1e400", "-1e400", "null", "true", "[]", "-1", "0", String(now())].map(
      (text) => forge(HEADER, raw("exp", text)),
    ),
  ]);
});

test("J9 nbf, and an iat that is in the future or not an integer, are refused", () =>
  refuses([
    forge(HEADER, raw("iat", String(now() + 3600))),
    forge(HEADER, raw("iat", `"${claims.iat}"`)),
    forge(HEADER, { ...claims, nbf: now() + 3600 }),
  ]));

test("J9 a sub, sid or email that is missing or not a string is refused", () =>
  refuses(
    ["sub", "sid", "email"].flatMap((name) => [
      ...["1", "null", "[]", "{}", "true"].map((text) => forge(HEADER, raw(name, text))),
      forge(HEADER, Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name))),
    ]),
  ));

test("J11 padding, white space and standard base64 are refused in every part", async () => {
  const parts = genuine.split(".");
  const spoiled = ["=", "==", "+", "/", "%3D"].flatMap((text) =>
    parts.map((part, index) => parts.with(index, part + text).join(".")),
  );
  await refuses([
    ...spoiled,
    ...parts.map((part, index) => parts.with(index, `${part.slice(0, 4)} ${part.slice(4)}`).join(".")),
  ]);
  for (const inner of [`${genuine} x`, genuine.replace(".", ". "), genuine.replace(".", "\t.")]) {
    assert.equal((await request(server.port, { lines: [`Authorization: Bearer ${inner}`] })).status, 401);
  }
});

test("J11 a last character that decodes to the same bytes is refused", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(genuine.at(-1) ?? "");
  const same = [1, 2, 3].map((bits) => genuine.slice(0, -1) + alphabet[last ^ bits]);
  const bytes = (token: string) => Buffer.from(token.split(".")[2] ?? "", "base64url").toString("hex");
  assert.deepEqual(new Set(same.map(bytes)), new Set([bytes(genuine)]));
  return refuses(same);
});

test("J11 a signature that is cut, longer or empty is refused", () =>
  refuses([
    genuine.slice(0, -1),
    genuine.slice(0, -8),
    `${genuine}AAAA`,
    genuine.slice(0, genuine.lastIndexOf(".") + 1),
  ]));

test("J11 a payload that is not UTF-8, has a byte order mark or is not an object is refused", () => {
  const json = JSON.stringify(claims);
  return refuses([
    forge(HEADER, `\ufeff${json}`),
    forge(`\ufeff${JSON.stringify(HEADER)}`, json),
    forge(
      HEADER,
      Buffer.concat([Buffer.from(json.slice(0, -1)), Buffer.from([0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]),
    ),
    forge(HEADER, Buffer.from(json, "utf16le")),
    ...["[]", '"x"', "null", "1", "", "{", `[${json}]`, `${json}x`].map((text) => forge(HEADER, text)),
    forge("[]", json),
    forge("null", json),
  ]);
});

test("J11 any number of parts other than three is refused", () => {
  const [header = "", payload = "", mac = ""] = genuine.split(".");
  return refuses([
    header,
    `${header}.${payload}`,
    `${genuine}.${mac}`,
    `${genuine}.`,
    `.${genuine}`,
    `${genuine}.${mac}.${mac}`,
    `${header}..${mac}`,
    "..",
    ".",
  ]);
});

test("J11 16,000 dots are refused, and a token above the header limit is 431", async () => {
  assertRefused(await me(server, ".".repeat(16_000)));
  const answer = await request(server.port, { lines: [`Authorization: Bearer ${".".repeat(20_000)}`] });
  assert.equal(answer.status, 431);
  assert.equal(JSON.parse(answer.body).code, "headers_too_large");
});

test("J11 a correctly signed token above 4 KiB is refused", () => {
  const long = forge(HEADER, JSON.stringify(claims) + " ".repeat(3500));
  assert.ok(long.length > 4096);
  return refuses([long]);
});

test("J13 a genuine token with a sid that was never issued, or another sub, has no session", async () => {
  const forged = [
    { sid: "3f0c1a5e-2b7d-4f49-9d6a-6c1c7e4f8b20" },
    { sid: "" },
    { sid: claims.sid.toUpperCase() },
    { sub: "2" },
  ];
  for (const change of forged) {
    const answer = await me(server, forge(HEADER, { ...claims, ...change }));
    assertProblem(answer, 401, "session_invalidated", "Sesión invalidada. Inicia sesión de nuevo.");
  }
});

test("J13 a token of the user of an earlier configuration has no session", async () => {
  await using first = await startServer();
  const token = await logIn(first);
  await first.stop();
  await using second = await startServer({ dir: first.dir, env: { DEMO_USER_ID: "2" } });
  assertProblem(await me(second, token), 401, "session_invalidated");
});

test("J13 a genuine token of another e-mail is refused", () =>
  refuses([forge(HEADER, { ...claims, email: "other@example.com" })]));

test("J13 a genuine token of an earlier session is refused", async () => {
  await using own = await startServer();
  const old = await logIn(own);
  await logIn(own);
  assertProblem(await me(own, old), 401, "session_invalidated");
});

test("the unchanged token is accepted, so each refusal is due to the change", async () => {
  const [header = "", payload = "", mac] = genuine.split(".");
  assert.equal(encode(HEADER), header);
  assert.equal((await me(server, [header, payload, mac].join("."))).status, 200);
});
