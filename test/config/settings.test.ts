import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readSettings, SETTING_NAMES, type Settings } from "../../src/config/settings.ts";
import { problemsIn, REQUIRED, SECRET } from "./environment.ts";

const read = (changes: Record<string, string>) => readSettings({ ...REQUIRED, ...changes });

suite("settings", () => {
  test("are each used outside their groups", () => {
    const src = join(import.meta.dirname, "../../src");
    const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const text = files
      .filter((file) => !/^config\/(?:setting-groups\/|settings\.ts$)/.test(file))
      .map((file) => readFileSync(join(src, file), "utf8"))
      .join("\n");
    assert.deepEqual(
      SETTING_NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)),
      [],
    );
  });

  test("have the documented defaults, except the secret, the e-mail and the hash", () => {
    const { DEMO_PASSWORD, ...settings } = readSettings(REQUIRED);
    assert.equal(DEMO_PASSWORD.algorithm, "argon2id");
    const defaults: Partial<Settings> = {
      JWT_SECRET: REQUIRED.JWT_SECRET,
      JWT_TTL: { seconds: 900, fellBack: false },
      DEMO_EMAIL: "demo@example.com",
      DEMO_USER_ID: "1",
      REDIS_PORT: 6379,
      PORT: 3000,
      DATA_DIR: "./data",
      LOG_LEVEL: "info",
      ADMIN: "on",
      SHUTDOWN_TIMEOUT: 10_000,
      WEBHOOK_PATH: "/webhook",
      WEBHOOK_BODY_LIMIT: 1_048_576,
      WEBHOOK_QUEUE_LIMIT: 10_000,
      RETRY_ATTEMPTS: 10,
      RETRY_BACKOFF: "exponential",
      RETRY_JITTER: 0.2,
      WORKER_CONCURRENCY: 10,
      WORKER_POLL_INTERVAL: 1000,
      HANDLER_TIMEOUT: 30_000,
    };
    for (const [name, value] of Object.entries(defaults)) {
      assert.deepEqual(settings[name as keyof typeof settings], value, name);
    }
    for (const name of [
      "MIN_FREE_DISK",
      "MAX_QUEUE_AGE",
      "REDIS_HOST",
      "HOST",
      "WEBHOOK_SECRET",
      "FORWARD_URL",
      "TRUSTED_PROXIES",
    ] as const) {
      assert.equal(settings[name], undefined, name);
    }
  });

  test("are all read when all are set", () => {
    const settings = read({
      JWT_SECRET_PREVIOUS: SECRET.previous,
      JWT_TTL: "2h",
      DEMO_USER_ID: "user-7@x",
      DATABASE_URL: "postgres://app:p@db.internal/store?sslmode=verify-full",
      DATABASE_POOL_SIZE: "20",
      DATABASE_TIMEOUT: "2s",
      DATABASE_WAIT: "2m",
      REDIS_HOST: "redis.internal",
      REDIS_PORT: "6380",
      REDIS_USERNAME: "u",
      REDIS_PASSWORD: "p",
      REDIS_SENTINEL_PASSWORD: "s",
      REDIS_DB: "2",
      REDIS_TLS: "true",
      REDIS_TLS_CA_FILE: "ca.pem",
      REDIS_MASTER_NAME: "main",
      REDIS_KEY_PREFIX: "app:",
      REDIS_TIMEOUT: "500ms",
      PORT: "0",
      HOST: "::1",
      TLS_CERT_FILE: "cert.pem",
      TLS_KEY_FILE: "key.pem",
      TRUSTED_PROXIES: "10.0.0.0/8, ::1",
      PROXY: "caddy",
      DATA_DIR: "/var/lib/x",
      CONFIG_FILE: "/etc/authserve.yaml",
      INITIAL_PASSWORD: "a first password",
      PUBLIC_URL: "https://AUTH.example.com:443",
      COOKIE_DOMAIN: "example.com",
      PASSKEY_RP_ID: "auth.example.net",
      PASSKEY_ORIGINS: "https://auth.example.org",
      REDIRECT_ORIGINS: "https://app.example.net, http://localhost:8080",
      SESSION_MAX_AGE: "12h",
      CORS_ALLOWED_ORIGINS: "https://app.example.com",
      ADDON_DIR: "/var/lib/addons",
      LOG_LEVEL: "debug",
      LOG_FORMAT: "text",
      ADMIN: "off",
      ADMIN_ALLOWED_ADDRESSES: "10.0.0.0/8",
      SHUTDOWN_TIMEOUT: "0ms",
      WEBHOOK_PATH: "/hooks/a.b_c~d-e",
      WEBHOOK_SECRET: "s",
      WEBHOOK_SECRET_PREVIOUS: "p",
      WEBHOOK_ALLOWED_ADDRESSES: "192.0.2.1",
      WEBHOOK_BODY_LIMIT: "512k",
      WEBHOOK_QUEUE_LIMIT: "5",
      MIN_FREE_DISK: "2g",
      ENCRYPTION_KEYS: "new.key, old.key",
      MAX_QUEUE_AGE: "90d",
      FORWARD_URL: "https://example.com/events",
      FORWARD_SECRET: "s",
      RETRY_ATTEMPTS: "3",
      RETRY_BACKOFF: "linear",
      RETRY_DELAY: "30s",
      RETRY_JITTER: "0",
      WORKER_CONCURRENCY: "4",
      WORKER_POLL_INTERVAL: "250ms",
      HANDLER_TIMEOUT: "5s",
    });
    // These also locate Redis, and only one may be set.
    const others = ["REDIS_SENTINELS", "REDIS_CLUSTER"];
    for (const name of SETTING_NAMES) if (!others.includes(name)) assert.notEqual(settings[name], undefined, name);
    assert.equal(settings.JWT_TTL.seconds, 7200);
    assert.equal(settings.PUBLIC_URL, "https://auth.example.com");
    assert.deepEqual(settings.REDIRECT_ORIGINS, ["https://app.example.net", "http://localhost:8080"]);
    assert.equal(settings.REDIS_PORT, 6380);
    assert.equal(settings.WEBHOOK_BODY_LIMIT, 524_288);
    assert.equal(settings.MIN_FREE_DISK, 2_147_483_648);
    assert.equal(settings.MAX_QUEUE_AGE, 7_776_000_000);
    assert.equal(settings.RETRY_DELAY, 30_000);
    assert.equal(settings.WORKER_POLL_INTERVAL, 250);
    assert.ok(settings.TRUSTED_PROXIES?.check("10.9.8.7", "ipv4"));
    assert.ok(settings.TRUSTED_PROXIES?.check("::1", "ipv6"));
    assert.ok(!settings.TRUSTED_PROXIES?.check("11.0.0.1", "ipv4"));
  });

  for (const [name, values] of Object.entries({
    DEMO_EMAIL: ["demo", "a@b\nc@d"],
    DEMO_USER_ID: [" ", "a b", "x".repeat(129), "a\n"],
    DATABASE_POOL_SIZE: ["1", "101"],
    DATABASE_TIMEOUT: ["99ms", "5"],
    DATABASE_WAIT: ["-1s", "5"],
    REDIS_HOST: ["redis://localhost", "localhost:6379", "[::1]", "a b", "-", "/run/redis.sock"],
    HOST: ["fe80::1%eth0", "http://0.0.0.0", "0.0.0.0:3000", "[::]", "*"],
    REDIS_PORT: ["0", "65536", "6379.0", "0x10", " 6379"],
    PORT: ["-1", "65536", "http", "3000 "],
    TRUSTED_PROXIES: ["10.0.0.0/33", "10.0.0", "::1/129", "10.0.0.0/", "10.0.0.0/8/8", "all", ",", "fe80::1%eth0/x"],
    WEBHOOK_ALLOWED_ADDRESSES: ["192.0.2.0/-1", "example.com"],
    LOG_LEVEL: ["verbose", "INFO"],
    SHUTDOWN_TIMEOUT: ["10", "25d", "-1s"],
    WEBHOOK_PATH: [
      "webhook",
      "//",
      "//webhook",
      "/webhook//",
      "/:webhook",
      "/a b",
      "/a?b",
      "/%61",
      "/a/../b",
      "/..",
      "/auth",
      "/auth/login",
      "/healthz",
      "/readyz",
      "/metrics/x",
      "/login",
      "/login/",
      "/logout/x",
      "/admin",
    ],
    WEBHOOK_BODY_LIMIT: ["0", "65m", "1g"],
    WEBHOOK_QUEUE_LIMIT: ["0", "1000001"],
    MIN_FREE_DISK: ["-1", "5%", "1t", "1000001g", "999999999999g"],
    MAX_QUEUE_AGE: ["0s", "999ms", "366d", "1", "forever"],
    PUBLIC_URL: [
      "auth.example.com",
      "http://auth.example.com",
      "http://8.8.8.8:3000",
      "https://auth.example.com/auth",
      "https://auth.example.com/a/../b",
      "https://auth.example.com//x",
      "https://auth.example.com/?",
      "https://user@auth.example.com",
      "ftp://auth.example.com",
      "null",
    ],
    COOKIE_DOMAIN: [
      "localhost",
      "lan",
      "192.0.2.1",
      "..example.com",
      "Example.com",
      "https://example.com",
      "example.com/",
    ],
    REDIRECT_ORIGINS: ["*", "https://app.example.net,other", "https://*.example.net", ","],
    CORS_ALLOWED_ORIGINS: ["*", "null", "http://app.example.net"],
    SESSION_MAX_AGE: ["0s", "366d", "1"],
    FORWARD_URL: ["example.com", "ftp://example.com/", "http://", "javascript:alert(1)"],
    FORWARD_SECRET: ["whsec_", "whsec_!"],
    RETRY_ATTEMPTS: ["0", "101", "1.5"],
    RETRY_BACKOFF: ["constant", "Linear"],
    RETRY_DELAY: ["0ms", "1", "25h"],
    RETRY_JITTER: ["-0.1", "1.1", "20%", ".2", "1e-1"],
    WORKER_CONCURRENCY: ["0", "1001"],
    WORKER_POLL_INTERVAL: ["9ms", "1"],
    HANDLER_TIMEOUT: ["0ms", "forever"],
  })) {
    test(`refuse a bad ${name} with its name and without its value`, () => {
      for (const value of values) {
        const problems = problemsIn({ ...REQUIRED, [name]: value });
        assert.equal(problems.length, 1, `${name}=${JSON.stringify(value)}: ${problems.join(" | ")}`);
        assert.ok(problems[0]?.startsWith(`${name} is not usable: expected `), problems.join());
      }
    });
  }

  test("PUBLIC_URL may be plain HTTP in a local network", () => {
    for (const host of ["192.168.1.10:3000", "[fd00::1]", "umbrel.local:3000", "tower", "auth.home.arpa"]) {
      const PUBLIC_URL = `http://${host}`;
      assert.equal(readSettings({ ...REQUIRED, PUBLIC_URL }).PUBLIC_URL, PUBLIC_URL);
    }
  });

  test("refuse a bad DATABASE_URL with what is wrong and without its value", () => {
    const problems = problemsIn({ ...REQUIRED, DATABASE_URL: "postgres://app:pass@h/store?sslmode=maybe" });
    assert.deepEqual(problems, [
      "DATABASE_URL has an unknown sslmode: use one of disable, no-verify, require, verify-ca, verify-full",
    ]);
  });

  test("accept a WEBHOOK_PATH that only begins like a path of the service", () => {
    assert.equal(read({ WEBHOOK_PATH: "/authors" }).WEBHOOK_PATH, "/authors");
    assert.equal(read({ WEBHOOK_PATH: "/hooks/auth" }).WEBHOOK_PATH, "/hooks/auth");
  });

  test("accept a WEBHOOK_PATH that is a slash, ends with one or has a colon inside", () => {
    for (const WEBHOOK_PATH of ["/", "/webhook/", "/bot:123/hook", "/bot:"])
      assert.equal(read({ WEBHOOK_PATH }).WEBHOOK_PATH, WEBHOOK_PATH);
  });

  test("accept any host name and any address as HOST", () => {
    for (const HOST of ["localhost", "my_redis-1.internal.", "münchen.example", "0.0.0.0", "::", "उदाहरण.example"]) {
      assert.equal(read({ HOST }).HOST, HOST);
    }
  });

  test("of TLS must be set together", () => {
    for (const name of ["TLS_CERT_FILE", "TLS_KEY_FILE"]) {
      const problems = problemsIn({ ...REQUIRED, [name]: "x.pem" });
      assert.deepEqual(problems, ["TLS_CERT_FILE and TLS_KEY_FILE belong together: set both or neither"]);
    }
  });

  test("can be read by name, without the others", () => {
    assert.deepEqual(readSettings({ DATA_DIR: "/x", JWT_SECRET: "weak" }, ["DATA_DIR", "REDIS_PORT"]), {
      DATA_DIR: "/x",
      REDIS_PORT: 6379,
    });
  });
});

suite("JWT_TTL", () => {
  for (const value of ["900", "15 m", "1.5h", "15min", "ten", "-5m", "900S"]) {
    test(`of another form (${value}) falls back to 900 seconds`, () => {
      assert.deepEqual(read({ JWT_TTL: value }).JWT_TTL, { seconds: 900, fellBack: true });
    });
  }

  for (const value of ["0s", "000m", "31d", "2592001s", "721h", `${"9".repeat(400)}s`]) {
    test(`of zero or more than 30 days (${value.slice(0, 10)}) is refused`, () => {
      const problems = problemsIn({ ...REQUIRED, JWT_TTL: value });
      assert.match(problems.join(), /^JWT_TTL is not usable: expected a lifetime above zero and at most 30d/);
    });
  }

  test("of exactly 30 days is accepted", () => {
    assert.deepEqual(read({ JWT_TTL: "30d" }).JWT_TTL, { seconds: 2_592_000, fellBack: false });
  });
});
