import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import { CompactEncrypt } from "jose";
import { createSignToken, verifyToken } from "../../src/auth/token.ts";
import { growsLinearly } from "../helpers/growth.ts";

const SECRET = "3kX9vQ2mZ7pL4tR8wY1cB6nH5jD0sF-gA";
const NOW = 1_800_000_000;
const HEADER = '{"alg":"HS256","typ":"JWT"}';
const CLAIMS = { sub: "1", email: "demo@example.com", sid: "s-1", iat: NOW, exp: NOW + 900 };

const base64url = (data: string | Uint8Array) => Buffer.from(data).toString("base64url");
const verify = (token: string) => verifyToken(token, [SECRET], NOW);

function signedParts(header: string, payload: string): string {
  return `${header}.${payload}.${createHmac("sha256", SECRET).update(`${header}.${payload}`).digest("base64url")}`;
}

const signedPayload = (payload: string | Uint8Array) => signedParts(base64url(HEADER), base64url(payload));
const signToken = createSignToken(SECRET);
const genuine = () => signToken(CLAIMS);

suite("genuinely signed claims are refused", () => {
  const member = (name: string, json: string | null) => {
    const members = Object.entries(CLAIMS).filter(([key]) => key !== name);
    const texts = members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
    return `{${[...texts, ...(json === null ? [] : [`${JSON.stringify(name)}:${json}`])].join()}}`;
  };
  for (const [name, json] of [
    ["exp", null],
    ["exp", `"${NOW + 900}"`],
    ["exp", `${NOW + 900}.5`],
    ["exp", "1e400"],
    ["exp", "null"],
    ["exp", "-1"],
    ["exp", "true"],
    ["exp", String(NOW)],
    ["exp", `[${NOW + 900}]`],
    ["iat", "null"],
    ["iat", String(NOW + 3600)],
    ["iat", `"${NOW}"`],
    ["iat", "-1e400"],
    ["nbf", String(NOW + 3600)],
    ["iss", '"someone"'],
    ["aud", '["someone"]'],
    ["sub", null],
    ["sub", "1"],
    ["sub", '["1"]'],
    ["sid", null],
    ["sid", "null"],
    ["sid", "{}"],
    ["email", null],
    ["email", "1"],
    ["__proto__", '{"sub":"2"}'],
  ] as const) {
    test(`with ${name} ${json === null ? "absent" : `= ${json}`}`, () => {
      assert.equal(verify(signedPayload(member(name, json))), null);
    });
  }

  for (const [name, value] of [
    ["sub", '"1"'],
    ["sid", '"s-1"'],
    ["exp", String(NOW + 900)],
    ["iat", String(NOW)],
  ] as const) {
    test(`with ${name} twice`, () => {
      const twice = JSON.stringify(CLAIMS).replace("{", `{"${name}":${value},`);
      assert.equal(verify(signedPayload(twice)), null);
    });
  }

  for (const payload of ["[]", '"x"', "null", "1", "", "{", "{}", `\ufeff${JSON.stringify(CLAIMS)}`]) {
    test(`that are ${JSON.stringify(payload).slice(0, 20)}`, () => assert.equal(verify(signedPayload(payload)), null));
  }

  test("that are not UTF-8", () => {
    const bytes = Buffer.from(JSON.stringify({ ...CLAIMS, sid: "?" }));
    bytes[bytes.indexOf("?")] = 0xff;
    assert.equal(verify(signedPayload(bytes)), null);
  });
});

suite("a token's form", () => {
  test("has exactly three parts", async () => {
    const token = await genuine();
    const [header, payload, signature] = token.split(".");
    for (const text of [
      "",
      ".",
      "..",
      "...",
      header ?? "",
      `${header}.${payload}`,
      `${header}.${payload}.`,
      `.${payload}.${signature}`,
      `${header}..${signature}`,
      `${token}.`,
      `.${token}`,
      `${token}.x`,
      `${token}.x.y`,
    ]) {
      assert.equal(verify(text), null, text);
    }
  });

  test("has no padding, line end, space or other alphabet in any part", async () => {
    const parts = (await genuine()).split(".");
    for (const index of [0, 1, 2]) {
      for (const extra of ["=", "==", "\n", "\r\n", " ", "+", "/", "\u00e9", "\0", "~"]) {
        for (const changed of [`${parts[index]}${extra}`, `${extra}${parts[index]}`]) {
          assert.equal(verify(parts.with(index, changed).join(".")), null, JSON.stringify([index, changed]));
        }
      }
    }
  });

  test("is canonical: a last character that decodes to the same bytes is refused", async () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const token = await genuine();
    const last = alphabet.indexOf(token.at(-1) ?? "");
    const sameBytes = alphabet[last ^ 1];
    assert.equal(last % 4, 0);
    assert.equal(verify(`${token.slice(0, -1)}${sameBytes}`), null);
  });

  test("is canonical in the signed parts, too", () => {
    const header = base64url(HEADER);
    for (const padded of [`${header}=`, `${header}==`, `${header}\n`]) {
      assert.equal(verify(signedParts(padded, base64url(JSON.stringify(CLAIMS)))), null, JSON.stringify(padded));
    }
    const payload = base64url(JSON.stringify({ ...CLAIMS, sid: "s-12" }));
    assert.notEqual(verify(signedParts(header, payload)), null);
    assert.equal(verify(signedParts(header, `${payload}=`)), null);
  });

  test("has at most 4 KiB", async () => {
    const token = (length: number) => signToken({ ...CLAIMS, sid: "x".repeat(length) });
    assert.notEqual(verify(await token(2000)), null);
    const long = await token(4000);
    assert.ok(long.length > 4096);
    assert.equal(verify(long), null);
  });

  for (const [what, tokenOf] of [
    ["very many dots", (size) => ".".repeat(size)],
    ["a huge part", (size) => `${"A".repeat(size)}.A.A`],
    ["deep nesting", (size) => `${base64url("[".repeat(size))}.e30.e30`],
  ] as [string, (size: number) => string][]) {
    test(`with ${what} is refused in a time that does not grow with its square`, () => {
      growsLinearly(20_000, (size) => {
        const text = tokenOf(size);
        return () => assert.equal(verify(text), null);
      });
    });
  }

  test("of a JWE is refused without deriving its key, however many iterations it asks for", async () => {
    const jwe = await new CompactEncrypt(Buffer.from(JSON.stringify(CLAIMS)))
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .encrypt(Buffer.from(SECRET.slice(0, 32)));
    const pbes2 = base64url('{"alg":"PBES2-HS256+A128KW","enc":"A128GCM","p2s":"AAAAAAAAAAA","p2c":2147483647}');
    // That many iterations take half an hour.
    assert.equal(verify(jwe), null);
    assert.equal(verify([pbes2, ...jwe.split(".").slice(1)].join(".")), null);
    assert.equal(verify(signedParts(pbes2, base64url(JSON.stringify(CLAIMS)))), null);
  });

  test("with one bit changed anywhere is refused", async () => {
    const token = await genuine();
    for (let i = 0; i < token.length; i++) {
      const other = token[i] === "A" ? "B" : "A";
      assert.equal(verify(`${token.slice(0, i)}${other}${token.slice(i + 1)}`), null, `at ${i}`);
    }
  });
});
