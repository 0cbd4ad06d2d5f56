import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as bcrypt from "@node-rs/bcrypt";
import { assertProblem, post, tryLogin } from "../../helpers/client.ts";
import { authserve, type Finished } from "../../helpers/command.ts";
import { cheapHash, EMAIL, PASSWORD, PASSWORD_HASH } from "../../helpers/credentials.ts";
import { serveRefused, startServer } from "../../helpers/server.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

/** 1,024 characters with what could be changed on the way: blanks at both ends, a NUL and an emoji. */
const ODD = `   before\0after 🙂${"ñ".repeat(1005)}☕ `;
assert.equal([...ODD].length, 1024);
const odd = await startServer({ env: { DEMO_PASSWORD: await cheapHash(ODD) } });
after(() => odd[Symbol.asyncDispose]());

test("P1 a password is the same in NFC and NFD, in the hash and in the request", async () => {
  const composed = "contraseña é Å 가나다".normalize("NFC");
  const decomposed = composed.normalize("NFD");
  assert.notEqual(composed, decomposed);
  const { code, stdout } = await hashOf(decomposed);
  assert.equal(code, 0);
  await using made = await startServer({ env: { DEMO_PASSWORD: stdout.trim() } });
  for (const password of [composed, decomposed]) assert.equal((await tryLogin(made, { password })).status, 200);
});

function hashOf(password: string): Promise<Finished> {
  return authserve(["hash-password"], { dir: server.dir, input: password });
}

test("P2 a bcrypt hash refuses a password that only shares its first 72 bytes", async () => {
  const password = `${"0123456789".repeat(7)}ab`;
  await using server = await startServer({ env: { DEMO_PASSWORD: await bcrypt.hash(password, 4) } });
  assert.equal((await tryLogin(server, { password })).status, 200);
  for (const longer of [`${password}c`, `${password}\0`, `${password}${"x".repeat(900)}`]) {
    assertProblem(await tryLogin(server, { password: longer }), 401, "invalid_credentials");
  }
  assert.equal((await tryLogin(server, { password: password.slice(0, -1) })).status, 401);
});

test("P2 a bcrypt hash of a longer password never accepts its first 72 bytes", async () => {
  const long = "0123456789".repeat(8);
  await using server = await startServer({ env: { DEMO_PASSWORD: await bcrypt.hash(long, 4) } });
  for (const password of [long, `${long.slice(0, 72)}x`]) {
    assert.equal((await tryLogin(server, { password })).status, 401);
  }
});

test("P3 a NUL does not end a password", async () => {
  for (const password of [`${PASSWORD}\0x`, `${PASSWORD}\0`, `\0${PASSWORD}`]) {
    assertProblem(await tryLogin(server, { password }), 401, "invalid_credentials");
  }
  assert.equal((await tryLogin(odd, { password: ODD })).status, 200);
  assert.equal((await tryLogin(odd, { password: ODD.slice(0, ODD.indexOf("\0")) })).status, 401);
});

test("P4 a password of 1,024 characters is compared in full and a longer one is refused", async () => {
  assert.equal((await tryLogin(odd, { password: ODD })).status, 200);
  assert.equal((await tryLogin(odd, { password: `${ODD.slice(0, -1)}x` })).status, 401);
  assertProblem(await tryLogin(odd, { password: `${ODD}x` }), 400, "validation_failed");
});

test("P4 a password of a megabyte is refused by its size", async () => {
  assertProblem(await tryLogin(server, { password: "x".repeat(1_000_000) }), 413, "payload_too_large");
});

test("P5 a password is never trimmed, and ill-formed Unicode is refused", async () => {
  assert.equal((await tryLogin(odd, { password: ODD })).status, 200);
  for (const trimmed of [ODD.trimStart(), ODD.trimEnd()])
    assert.equal((await tryLogin(odd, { password: trimmed })).status, 401);
  assertProblem(await tryLogin(server, { password: "" }), 400, "validation_failed");
  assertProblem(await tryLogin(server, { password: "      " }), 401, "invalid_credentials");
  for (const lone of ["\\ud800", "\\udc00", "\\ud800\\ud800", "\\udc00\\ud800"]) {
    const body = `{"email":"${EMAIL}","password":"longer ${lone}"}`;
    assertProblem(await post(server, "/auth/login", body), 400, "validation_failed");
  }
});

test("P6 an e-mail that is not one plain address is refused", async () => {
  const local = "x".repeat(64);
  const addresses: unknown[] = [
    "a@b,c@d",
    "a@b\r\nBcc: c@d",
    "a@b\n",
    '"a b"@c',
    "a@[127.0.0.1]",
    "a@b@c",
    "@b",
    "a@",
    "a",
    "",
    "a@-b.example",
    "a@b..example",
    "a@exämple.com",
    "ä@example.com",
    "a @example.com",
    "a@example.com\0",
    "<a@example.com>",
    `${local}@${`${"y".repeat(60)}.`.repeat(4)}example.com`,
    ["a@b.example"],
    { email: "a@b.example" },
  ];
  for (const email of addresses) {
    const answer = await tryLogin(server, { email });
    assertProblem(answer, 400, "validation_failed");
    assert.doesNotMatch(answer.text, /Bcc|127\.0\.0\.1|@/);
  }
});

test("P7 an unusable DEMO_PASSWORD is refused at the start, with the command that makes a hash", async () => {
  const [head = "", salt = "", hash = ""] = PASSWORD_HASH.split(/\$(?=[^$]{22}\$|[^$]{43}$)/);
  const argon = (parameters: string, more = {}) => {
    const { kind = "argon2id" } = more as { kind?: string };
    return `$${kind}$v=19$${parameters}$${salt}$${hash}`;
  };
  assert.equal(argon("m=1024,t=1,p=1"), PASSWORD_HASH, head);
  const unusable = [
    argon("m=1024,t=1,p=1", { kind: "argon2d" }),
    argon("m=4194304,t=1,p=1"),
    PASSWORD_HASH.slice(0, -25),
    `$2b$31$${"a".repeat(53)}`,
    "plain text password",
  ];
  await Promise.all(
    unusable.map(async (DEMO_PASSWORD) => {
      const { code, stderr } = await serveRefused({ DEMO_PASSWORD });
      assert.equal(code, 2, DEMO_PASSWORD);
      assert.match(stderr, /^error: DEMO_PASSWORD .*\n {2}hint: .*authserve hash-password/);
      assert.ok(!stderr.includes(DEMO_PASSWORD));
    }),
  );
  assert.match((await serveRefused({ DEMO_PASSWORD: "" })).stderr, /DEMO_PASSWORD is not set/);
});
