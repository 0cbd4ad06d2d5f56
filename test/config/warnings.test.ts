import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readSettings } from "../../src/config/settings.ts";
import { settingWarnings } from "../../src/config/warnings.ts";
import { problemsIn, REQUIRED } from "./environment.ts";

/** Returns the warnings that begin with a name. */
const warningsOf = (name: string, changes: Record<string, string>) =>
  settingWarnings(readSettings({ ...REQUIRED, ...changes })).filter((text) => text.startsWith(name));

const argon2id = (memoryKib: number, passes: number) =>
  `$argon2id$v=19$m=${memoryKib},t=${passes},p=1$${"A".repeat(22)}$${"A".repeat(43)}`;
const bcrypt = (cost: string) => `$2b$${cost}$${"a".repeat(21)}.${"a".repeat(30)}.`;
const whsec = (bytes: number) => `whsec_${Buffer.alloc(bytes, "secret of a webhook").toString("base64")}`;

suite("a password hash", () => {
  for (const hash of [argon2id(19_456, 2), argon2id(47_104, 1), argon2id(7168, 5), argon2id(7168, 9), bcrypt("10")]) {
    test(`as costly as ${hash.slice(0, 24)} gives no warning`, () =>
      assert.deepEqual(warningsOf("DEMO_PASSWORD", { DEMO_PASSWORD: hash }), []));
  }

  for (const [hash, expected] of [
    [argon2id(19_455, 2), /m=19455, below 19456 for t=2: .* authserve hash-password$/],
    [argon2id(19_456, 1), /m=19456, below 47104 for t=1/],
    [argon2id(1024, 10), /m=1024, below 7168 for t=10/],
    [bcrypt("09"), /bcrypt hash with cost 9, below 10/],
  ] as const) {
    test(`as cheap as ${hash.slice(0, 24)} gives a warning`, () => {
      const [message = "", ...others] = warningsOf("DEMO_PASSWORD", { DEMO_PASSWORD: hash });
      assert.match(message, expected);
      assert.deepEqual(others, []);
    });
  }
});

suite("a webhook secret", () => {
  test("of Standard Webhooks has 24 bytes or more", () => {
    assert.deepEqual(warningsOf("WEBHOOK_SECRET", { WEBHOOK_SECRET: whsec(24) }), []);
    assert.match(
      warningsOf("WEBHOOK_SECRET", { WEBHOOK_SECRET: whsec(23) })[0] ?? "",
      /has 23 bytes after whsec_, fewer than 24/,
    );
  });

  test("that is also a secret of tokens is refused", () => {
    const JWT_SECRET = String(REQUIRED.JWT_SECRET);
    for (const name of ["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"]) {
      const [problem = ""] = problemsIn({ ...REQUIRED, [name]: JWT_SECRET });
      assert.match(problem, new RegExp(`^${name} is also a secret of tokens`));
      assert.ok(!problem.includes(JWT_SECRET));
    }
  });
});

suite("FORWARD_SECRET", () => {
  const FORWARD_URL = "http://127.0.0.1:9/";

  test("is a random text of 16 characters or 24 bytes, or more", () => {
    const warnings = (FORWARD_SECRET: string) => warningsOf("FORWARD_SECRET", { FORWARD_URL, FORWARD_SECRET });
    assert.deepEqual(warnings("sixteen letters."), []);
    assert.match(
      warnings("fifteen letters").join(),
      /^FORWARD_SECRET is shorter than 16 characters: use a random one$/,
    );
    assert.deepEqual(warnings(whsec(24)), []);
    assert.match(warnings(whsec(23)).join(), /has 23 bytes after whsec_, fewer than 24/);
    assert.match(warnings("sixteen letters. ").join(), /^FORWARD_SECRET begins or ends with white space/);
  });

  test("without FORWARD_URL gives a warning", () => {
    const warnings = warningsOf("FORWARD_SECRET", { FORWARD_SECRET: "sixteen letters." });
    assert.deepEqual(warnings, ["FORWARD_SECRET has no effect without FORWARD_URL: set both or neither"]);
  });

  test("that is also a secret of tokens is refused", () => {
    const problems = problemsIn({ ...REQUIRED, FORWARD_URL, FORWARD_SECRET: REQUIRED.JWT_SECRET });
    assert.match(
      problems.join(),
      /^FORWARD_SECRET is also a secret of tokens: the target of events could forge tokens/,
    );
  });
});

suite("DATABASE_URL", () => {
  const warnings = (rest: string) => warningsOf("DATABASE_URL", { DATABASE_URL: `postgres://app:secret@${rest}` });

  for (const [what, rest] of [
    ["on loopback", "127.0.0.1,localhost:5433,[::1]/store"],
    ["on a socket", "/store?host=/var/run/postgresql"],
    ["with a verified certificate", "db.internal/store?sslmode=verify-full"],
    ["with encryption only", "db.internal/store?sslmode=no-verify"],
  ] as const) {
    test(`${what} gives no warning`, () => assert.deepEqual(warnings(rest), []));
  }

  for (const [what, rest] of [
    ["on another machine", "db.internal/store"],
    ["on a host that is named like loopback", "localhost.example.com/store"],
    ["with one of its hosts on another machine", "127.0.0.1,db.internal/store"],
    ["with TLS switched off", "db.internal/store?sslmode=disable"],
  ] as const) {
    test(`${what} gives a warning without its value`, () => {
      const [warning = "", ...others] = warnings(rest);
      assert.deepEqual(others, []);
      assert.match(warning, /^DATABASE_URL reaches another machine without TLS: add \?sslmode=verify-full/);
      assert.doesNotMatch(warning, /secret|internal|example/);
    });
  }
});

suite("settings of browsers", () => {
  const ofPublicUrl = (changes: Record<string, string>) => warningsOf("PUBLIC_URL", changes).length;

  test("without PUBLIC_URL on a server that others reach give a warning", () => {
    assert.equal(ofPublicUrl({ HOST: "0.0.0.0" }), 1);
    assert.equal(ofPublicUrl({ TLS_CERT_FILE: "cert.pem", TLS_KEY_FILE: "key.pem" }), 1);
    assert.equal(ofPublicUrl({}), 0);
    assert.equal(ofPublicUrl({ HOST: "0.0.0.0", PUBLIC_URL: "https://auth.example.com" }), 0);
    assert.equal(ofPublicUrl({ HOST: "0.0.0.0", PUBLIC_URL: "http://localhost:3000" }), 0);
    assert.equal(ofPublicUrl({ HOST: "0.0.0.0", PUBLIC_URL: "http://tower.local:3000" }), 1);
  });

  test("with a JWT_TTL above SESSION_MAX_AGE give a warning", () => {
    const ofLifetime = (JWT_TTL: string, SESSION_MAX_AGE: string) =>
      warningsOf("JWT_TTL", { JWT_TTL, SESSION_MAX_AGE });
    assert.match(String(ofLifetime("2d", "1d")), /lasts for SESSION_MAX_AGE/);
    assert.deepEqual(ofLifetime("1d", "1d"), []);
  });
});
