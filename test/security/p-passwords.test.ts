import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as bcrypt from "@node-rs/bcrypt";
import { assertProblem, post, tryLogin } from "../helpers/client.ts";
import { authserve, type Finished } from "../helpers/command.ts";
import { cheapHash, EMAIL, PASSWORD, PASSWORD_HASH } from "../helpers/credentials.ts";
import { serveRefused, startServer } from "../helpers/server.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const withPassword = async (password: string) => startServer({ env: { DEMO_PASSWORD: await cheapHash(password) } });

test("P1 a password is the same in NFC and NFD, in the hash and in the request", async () => {
  const composed = "contraseña é Å 가나다".normalize("NFC");
  const decomposed = composed.normalize("NFD");
  assert.notEqual(composed, decomposed);
  await using accents = await withPassword(composed);
  for (const password of [composed, decomposed]) assert.equal((await tryLogin(accents, { password })).status, 200);
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
  await using nul = await withPassword("before\0after");
  assert.equal((await tryLogin(nul, { password: "before\0after" })).status, 200);
  assert.equal((await tryLogin(nul, { password: "before" })).status, 401);
});

test("P4 a password of 1,024 characters is compared in full and a longer one is refused", async () => {
  const password = `${"ñ".repeat(1023)}☕`;
  await using long = await withPassword(password);
  assert.equal((await tryLogin(long, { password })).status, 200);
  assert.equal((await tryLogin(long, { password: `${"ñ".repeat(1023)}x` })).status, 401);
  assertProblem(await tryLogin(long, { password: `${password}x` }), 400, "validation_failed");
});

test("P4 a password of a megabyte is refused by its size", async () => {
  assertProblem(await tryLogin(server, { password: "x".repeat(1_000_000) }), 413, "payload_too_large");
});

test("P5 a password is never trimmed, and ill-formed Unicode is refused", async () => {
  await using spaces = await withPassword("   six 🙂  ");
  assert.equal((await tryLogin(spaces, { password: "   six 🙂  " })).status, 200);
  assert.equal((await tryLogin(spaces, { password: "six 🙂 " })).status, 401);
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
    const { version = 19, kind = "argon2id" } = more as { version?: number; kind?: string };
    return `$${kind}$v=${version}$${parameters}$${salt}$${hash}`;
  };
  assert.equal(argon("m=1024,t=1,p=1"), PASSWORD_HASH, head);
  const unusable = [
    argon("m=1024,t=1,p=1", { kind: "argon2d" }),
    argon("m=1024,t=1,p=1", { kind: "argon2i" }),
    argon("m=1024,t=1,p=1", { version: 16 }),
    argon("m=4194304,t=1,p=1"),
    argon("m=1024,t=4294967295,p=1"),
    argon("m=1024,t=1,p=9"),
    PASSWORD_HASH.slice(0, -25),
    `$2b$31$${"a".repeat(53)}`,
    "plain text password",
    "5f4dcc3b5aa765d61d8327deb882cf99",
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
