import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readEnvironment } from "../../src/config/env-file.ts";
import { readSettings, SECRET_NAMES } from "../../src/config/settings.ts";
import { OperatorError } from "../../src/errors.ts";
import { createHttpHandler } from "../../src/worker/handlers/http.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { PASSWORD_HASH, problemsIn, REQUIRED, SECRET } from "./environment.ts";

suite("the report on bad settings", () => {
  test("names all of them at once", () => {
    const problems = problemsIn({
      JWT_SECRET: "short",
      JWT_SECRET_PREVIOUS: "ab".repeat(32),
      JWT_TTL: "0s",
      DEMO_PASSWORD: "plain",
      PORT: "99999",
      TLS_CERT_FILE: "cert.pem",
      REDIS_PASSWORD_FILE: "/nonexistent/file",
      RETRY_JITTER: "2",
    });
    const names = problems.map((problem) => problem.split(/[: ]/)[0]).sort();
    assert.deepEqual(names, [
      "DEMO_EMAIL",
      "DEMO_PASSWORD",
      "JWT_SECRET",
      "JWT_SECRET_PREVIOUS",
      "JWT_TTL",
      "PORT",
      "REDIS_PASSWORD_FILE",
      "RETRY_JITTER",
      "TLS_CERT_FILE",
    ]);
  });

  test("says how to set a missing setting", () => {
    assert.deepEqual(problemsIn({}), [
      "JWT_SECRET, DEMO_EMAIL, DEMO_PASSWORD are not set: for a first start run authserve serve --init, which writes .env; else set what is missing",
    ]);
  });

  test("never contains a value", () => {
    const marked = "Tr0ub4dor";
    const environment = Object.fromEntries(
      [
        ...["JWT_SECRET", "JWT_SECRET_PREVIOUS", "DEMO_PASSWORD", "DEMO_EMAIL", "DEMO_USER_ID", "PORT", "LOG_LEVEL"],
        ...["TRUSTED_PROXIES", "WEBHOOK_PATH", "FORWARD_URL", "RETRY_BACKOFF", "RETRY_DELAY", "RETRY_JITTER"],
      ].map((name) => [name, `${marked} !`]),
    );
    const problems = problemsIn(environment);
    assert.equal(problems.length, 13);
    assert.ok(!problems.join("\n").includes(marked));
  });

  test("names the commands that make a secret and a hash", () => {
    const problems = problemsIn({ ...REQUIRED, JWT_SECRET: "short", DEMO_PASSWORD: "plain" });
    assert.match(problems[0] ?? "", /^JWT_SECRET .*: .*openssl rand/);
    assert.match(problems[1] ?? "", /^DEMO_PASSWORD .*: .*authserve hash-password/);
  });
});

suite("JWT_SECRET", () => {
  for (const [what, secret] of [
    ["short", "3kX9vQ2mZ7pL4tR8wY1cB6nH5jD0sF-"],
    ["a known word", "secret"],
    ["one character", "x".repeat(40)],
    ["leaked", "a-string-secret-at-least-256-bits-long"],
    ["a sample of a framework's documentation", "cc7e0d44fd473002f1c42167459001140ec6389b7353f8088f4d9a95f2f596f2"],
    ["a line to be replaced", "your-secret-key-change-in-production"],
    ["repeated", "3kX9vQ2m".repeat(5)],
  ] as const) {
    test(`that is ${what} is refused, also as JWT_SECRET_PREVIOUS`, () => {
      assert.match(problemsIn({ ...REQUIRED, JWT_SECRET: secret }).join(), /^JWT_SECRET .*: make one/);
      assert.match(
        problemsIn({ ...REQUIRED, JWT_SECRET_PREVIOUS: secret }).join(),
        /^JWT_SECRET_PREVIOUS .*: make one/,
      );
    });
  }
});

suite("DEMO_PASSWORD", () => {
  const tail = PASSWORD_HASH.slice(PASSWORD_HASH.lastIndexOf("$c29t"));
  for (const encoded of [
    "",
    "plain text",
    `$argon2d$v=19$m=19456,t=2,p=1${tail}`,
    `$argon2i$v=19$m=19456,t=2,p=1${tail}`,
    `$argon2id$v=16$m=19456,t=2,p=1${tail}`,
    `$argon2id$v=19$m=4194304,t=2,p=1${tail}`,
    `$argon2id$v=19$m=19456,t=4294967295,p=1${tail}`,
    PASSWORD_HASH.slice(0, -30),
    "$2b$31$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
  ]) {
    test(`${JSON.stringify(encoded.slice(0, 34))} is refused`, () => {
      const problems = problemsIn({ ...REQUIRED, DEMO_PASSWORD: encoded });
      assert.match(problems.join(), /^DEMO_PASSWORD .*: make one with authserve hash-password$/);
    });
  }
});

suite("a secret's NAME_FILE", () => {
  const good: Record<(typeof SECRET_NAMES)[number], string> = {
    JWT_SECRET: SECRET.current,
    JWT_SECRET_PREVIOUS: SECRET.previous,
    DEMO_PASSWORD: PASSWORD_HASH,
    INITIAL_PASSWORD: "a first password",
    DATABASE_URL: "postgres://user:pass%20word@db.internal/authserve",
    REDIS_PASSWORD: "redis password",
    REDIS_SENTINEL_PASSWORD: "sentinel password",
    WEBHOOK_SECRET: "whsec_bXlzZWNyZXQ=",
    WEBHOOK_SECRET_PREVIOUS: "an older webhook secret",
    FORWARD_SECRET: "a secret for the target",
  };

  for (const name of SECRET_NAMES) {
    test(`${name}_FILE sets ${name}, without a line end and a byte order mark`, (t) => {
      const file = join(tempDir(t), "secret");
      writeFileSync(file, `\ufeff${good[name]}\n`);
      const settings = readSettings({ ...REQUIRED, [name]: undefined, [`${name}_FILE`]: file });
      const value = settings[name];
      const text = typeof value !== "object" ? value : "url" in value ? value.url : value.encoded;
      assert.equal(text, good[name]);
    });

    test(`${name}_FILE together with ${name} is an error`, (t) => {
      const file = join(tempDir(t), "secret");
      writeFileSync(file, good[name]);
      const problems = problemsIn({ ...REQUIRED, [name]: good[name], [`${name}_FILE`]: file });
      assert.deepEqual(problems, [`${name} and ${name}_FILE are both set: remove one`]);
    });

    test(`${name}_FILE that cannot be read is one error`, (t) => {
      const folder = tempDir(t);
      for (const file of [folder, join(folder, "missing")]) {
        const problems = problemsIn({ ...REQUIRED, [name]: undefined, [`${name}_FILE`]: file });
        assert.equal(problems.length, 1);
        assert.match(problems[0] ?? "", new RegExp(`^${name}_FILE cannot be read \\((?:EISDIR|ENOENT)\\)`));
      }
    });
  }

  test("that is not UTF-8 is refused, as are such bytes in the environment", (t) => {
    const file = join(tempDir(t), "secret");
    writeFileSync(file, randomBytes(64).fill(0xff, 40));
    const remedy = "write it in UTF-8; encode random bytes in base64";
    const inFile = problemsIn({ ...REQUIRED, JWT_SECRET: undefined, JWT_SECRET_FILE: file });
    assert.deepEqual(inFile, [`JWT_SECRET is not text in UTF-8: ${remedy}`]);
    const inEnvironment = problemsIn({ ...REQUIRED, WEBHOOK_SECRET: "se\uFFFDret" });
    assert.deepEqual(inEnvironment, [`WEBHOOK_SECRET is not text in UTF-8: ${remedy}`]);
  });

  test("that is empty is refused: anybody could sign with an empty webhook secret", (t) => {
    const file = join(tempDir(t), "secret");
    for (const content of ["", "\n"]) {
      writeFileSync(file, content);
      let secret: string | undefined;
      try {
        secret = readSettings({ ...REQUIRED, WEBHOOK_SECRET_FILE: file }).WEBHOOK_SECRET;
      } catch (error) {
        assert.match((error as Error).message, /WEBHOOK_SECRET/);
      }
      assert.notEqual(secret, "");
    }
  });
});

suite("the environment", () => {
  test("has precedence over .env, where an empty value counts as not set", (t) => {
    const folder = tempDir(t);
    writeFileSync(join(folder, ".env"), "PORT=4000\nHOST=\nDATA_DIR='./from file'\nLOG_LEVEL=warn\n");
    assert.deepEqual(readEnvironment(folder, { PORT: "5000", LOG_LEVEL: "", OTHER: undefined }), {
      PORT: "5000",
      DATA_DIR: "./from file",
      LOG_LEVEL: "warn",
    });
  });

  test("reads a value of blanks as empty, and not as the next line", (t) => {
    const folder = tempDir(t);
    for (const end of ["\n", "\r\n"]) {
      const lines = [
        "REDIS_PASSWORD= ",
        "export HOST=\t",
        "DATA_DIR = ",
        "  LOG_LEVEL=  ",
        "",
        "PORT= 4000 ",
        "JWT_TTL='60s'",
      ];
      writeFileSync(join(folder, ".env"), lines.join(end));
      assert.deepEqual(readEnvironment(folder, {}), { PORT: "4000", JWT_TTL: "60s" });
    }
  });

  test("with an unclosed quote in .env is refused, as the next setting would be lost", (t) => {
    const folder = tempDir(t);
    writeFileSync(join(folder, ".env"), "REDIS_PASSWORD='abc\nDATA_DIR='/srv'\n");
    assert.throws(
      () => readSettings(readEnvironment(folder, {}), ["REDIS_PASSWORD", "DATA_DIR"]),
      /REDIS_PASSWORD contains the line after it: close its quote in \.env/,
    );
    // The unclosed value may belong to another program.
    for (const line of ["WEBHOOK_ALLOWED_ADDRESSES='203.0.113.0/24'", "export JWT_SECRET_FILE='/run/secret'"]) {
      writeFileSync(join(folder, ".env"), `TZ='Europe/Madrid\n${line}\n`);
      assert.throws(() => readEnvironment(folder, {}), /TZ contains the line after it: close its quote in \.env/);
    }
  });

  test("with a setting without = in .env is refused, as it would be ignored", (t) => {
    const folder = tempDir(t);
    const range = "203.0.113.0/24";
    for (const line of [
      `WEBHOOK_ALLOWED_ADDRESSES: ${range}`,
      `WEBHOOK_ALLOWED_ADDRESSES ${range}`,
      `TZ='a'\nWEBHOOK_ALLOWED_ADDRESSES ${range}\nEDITOR='b'`,
      `  export WEBHOOK_ALLOWED_ADDRESSES: ${range}`,
      `WEBHOOK_ALLOWED_ADDRESSES: "a=b"`,
      "WEBHOOK_ALLOWED_ADDRESSES",
    ]) {
      for (const end of ["\n", "\r\n", ""]) {
        writeFileSync(join(folder, ".env"), `PORT=4000\n${line}${end}`);
        assert.throws(() => readEnvironment(folder, {}), /WEBHOOK_ALLOWED_ADDRESSES has no = after it: write/, line);
      }
    }
    // Accepted: shell syntax, names of other programs, lines of a quoted value, and names that the environment sets.
    const lines = ["PORT = 4000", "export PORT", "export PORT HOST # of the unit", "# HOST: 0.0.0.0", "services:"];
    lines.push('TEXT="one\\ntwo', 'HOST is "', "TEXT='one", "HOST is '", 'TEXT="one"', "A_PORT: 1", "DATA_DIR");
    writeFileSync(join(folder, ".env"), lines.join("\n"));
    assert.equal(readEnvironment(folder, { DATA_DIR: "/srv" }).PORT, "4000");
  });

  test("accepts values of other programs in .env, also over several lines", (t) => {
    const folder = tempDir(t);
    const key = "-----BEGIN KEY-----\nQ==\nOTHER=1\n-----END KEY-----";
    writeFileSync(join(folder, ".env"), `KEY="${key}"\nPORT=4000\n`);
    assert.deepEqual(readEnvironment(folder, {}), { KEY: key, PORT: "4000" });
    writeFileSync(join(folder, ".env"), 'COMPOSE="\nservice:\n  PORT=80\n"\nBANNER="one\\nHOST=two\\n"\n');
    assert.deepEqual(readEnvironment(folder, {}), { COMPOSE: "\nservice:\n  PORT=80\n", BANNER: "one\nHOST=two\n" });
  });

  test("ignores a byte order mark at the beginning of .env", (t) => {
    const folder = tempDir(t);
    writeFileSync(join(folder, ".env"), "\uFEFFPORT=4000\n");
    assert.deepEqual(readEnvironment(folder, {}), { PORT: "4000" });
  });

  test("reads a hash from .env unchanged", (t) => {
    const folder = tempDir(t);
    writeFileSync(join(folder, ".env"), `DEMO_PASSWORD='${PASSWORD_HASH}'\n`);
    assert.equal(readEnvironment(folder, {}).DEMO_PASSWORD, PASSWORD_HASH);
  });

  test("needs no .env file", (t) => assert.deepEqual(readEnvironment(tempDir(t), { PORT: "1" }), { PORT: "1" }));

  test("with an unreadable .env is an operator error", (t) => {
    const folder = tempDir(t);
    mkdirSync(join(folder, ".env"));
    assert.throws(() => readEnvironment(folder, {}), OperatorError);
  });

  test("refuses an .env in UTF-16", (t) => {
    const folder = tempDir(t);
    writeFileSync(join(folder, ".env"), Buffer.from("\uFEFFPORT=5000\n", "utf16le"));
    assert.throws(() => readEnvironment(folder, {}), /\.env is not text in UTF-8: save it as UTF-8/);
  });
});

test("a password in FORWARD_URL is never shown", async () => {
  const name = { event: 1, route: "default", source: "s", eventId: "e", type: "t" };
  let problem: unknown;
  try {
    const { FORWARD_URL = "" } = readSettings({ ...REQUIRED, FORWARD_URL: "http://user:hunter2@127.0.0.1:9/" });
    const forward = createHttpHandler({ url: FORWARD_URL, key: null });
    await forward.run(
      {
        ...name,
        contentType: "application/json",
        payload: Buffer.from("{}"),
        headers: "{}",
        receivedAt: 1,
        isReplay: false,
        attempt: 1,
        countedAttempt: 1,
        attemptOfBudget: 1,
      },
      AbortSignal.timeout(1000),
    );
  } catch (error) {
    problem = error;
  }
  assert.ok(problem instanceof Error);
  assert.ok(!String(problem.message).includes("hunter2"), problem.message);
});
