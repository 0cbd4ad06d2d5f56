import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as argon2 from "@node-rs/argon2";
import { type Answer, ask, assertProblem, tryLogin } from "../../helpers/client.ts";
import { EMAIL, PASSWORD } from "../../helpers/credentials.ts";
import { request } from "../../helpers/raw-http.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { until } from "../../helpers/until.ts";

// With a trusted proxy, each test uses its own addresses and e-mails.
const server = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
after(() => server[Symbol.asyncDispose]());

const LIMIT = 10;

function guess(address: string, email: string, to: Server = server): Promise<Answer> {
  return tryLogin(to, { email, password: "a wrong password" }, { "X-Forwarded-For": address });
}

async function exhaust(address: string, email: string): Promise<void> {
  for (let n = 0; n < LIMIT; n++) assert.equal((await guess(address, email)).status, 401);
}

async function isThrottled(address: string, email: string): Promise<boolean> {
  return (await guess(address, email)).status === 429;
}

/** An answer without the parts that must differ. */
function comparable({ status, headers, json }: Answer): object {
  const { requestId: _, ...body } = json;
  const kept = [...headers].filter(([name]) => !["date", "x-request-id", "retry-after"].includes(name));
  return { status, headers: kept, body };
}

test("L1 the answers to an unknown e-mail and to a wrong password are identical", async () => {
  const same = { "X-Request-ID": "same", "X-Forwarded-For": "10.1.0.1" };
  const wrong = await tryLogin(server, { password: "a wrong password" }, same);
  const unknown = await tryLogin(server, { email: "unknown@example.com", password: "a wrong password" }, same);
  const right = await tryLogin(server, { email: "unknown@example.com" }, same);
  assert.equal(wrong.status, 401);
  for (const other of [unknown, right]) {
    assert.equal(other.text, wrong.text);
    assert.deepEqual(comparable(other), comparable(wrong));
  }
});

test("L3 a known and an unknown e-mail get the same sequence of answers, up to the limit and above", async () => {
  const sequence = async (email: string) => {
    const answers: object[] = [];
    for (let n = 0; n < LIMIT + 3; n++) answers.push(comparable(await guess("10.3.0.1", email)));
    return answers;
  };
  const known = await sequence(EMAIL);
  assert.deepEqual(await sequence("unknown-3@example.com"), known);
  assert.deepEqual(
    known.map((answer) => (answer as Answer).status),
    [...Array(LIMIT).fill(401), 429, 429, 429],
  );
});

test("L3 an address that has logged in gets the same answers for a known and an unknown e-mail", async () => {
  await using own = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
  const home = "192.0.2.1";
  assert.equal((await tryLogin(own, {}, { "X-Forwarded-For": home })).status, 200);
  for (const email of [EMAIL, "unknown-3@example.com"]) {
    const guesses = Array.from({ length: 100 }, (_, n) => guess(`10.3.1.${n}`, email, own));
    for (const { status } of await Promise.all(guesses)) assert.equal(status, 401);
    assert.equal((await guess("10.3.2.1", email, own)).status, 429);
    assert.equal((await guess(home, email, own)).status, 401);
  }
  for (const email of [EMAIL, "unknown-3@example.com"]) {
    for (let n = 1; n < LIMIT; n++) assert.equal((await guess(home, email, own)).status, 401);
    assert.equal((await guess(home, email, own)).status, 429);
  }
});

test("L4 of 50 parallel guesses no more than the limit are compared", async () => {
  for (const email of [EMAIL, "unknown-4@example.com"]) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => guess("10.4.0.1", email)));
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 401).length, LIMIT);
    assert.equal(statuses.filter((status) => status === 429).length, 50 - LIMIT);
  }
});

test("L5 failures count for the canonical e-mail, and a look-alike is refused", async () => {
  await exhaust("10.5.0.1", EMAIL);
  assert.ok(await isThrottled("10.5.0.1", EMAIL.toUpperCase()));
  assert.ok(await isThrottled("10.5.0.1", "Owner@Example.com"));
  for (const email of [` ${EMAIL}`, `${EMAIL} `, EMAIL.replace("@", "＠"), `${EMAIL}\n`, EMAIL.replace("o", "ｏ")]) {
    assertProblem(await guess("10.5.0.1", email), 400, "validation_failed");
  }
  assert.equal((await guess("10.5.0.1", "owner+tag@example.com")).status, 401);
});

test("L6 all spellings of an address, and all addresses of an IPv6 /64, share one limit", async () => {
  await exhaust("10.6.0.1", EMAIL);
  for (const address of ["::ffff:10.6.0.1", "::FFFF:0a06:0001", "0:0:0:0:0:ffff:10.6.0.1"]) {
    assert.ok(await isThrottled(address, EMAIL), address);
  }
  assert.ok(!(await isThrottled("10.6.0.2", EMAIL)));
  await exhaust("2001:db8:6:1::1", EMAIL);
  for (const address of ["2001:db8:6:1::2", "2001:0DB8:0006:0001:ffff:ffff:ffff:ffff"]) {
    assert.ok(await isThrottled(address, EMAIL), address);
  }
  assert.ok(!(await isThrottled("2001:db8:6:2::1", EMAIL)));
});

test("L8 no other spelling of the path reaches the login", async () => {
  const body = JSON.stringify({ email: EMAIL, password: PASSWORD });
  const lines = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  for (const target of [
    "/auth/login/",
    "/auth/%6cogin",
    "/x/../auth/login",
    "//auth/login",
    "/auth/./login",
    "/Auth/Login",
  ]) {
    assert.equal((await request(server.port, { method: "POST", target, lines, body })).status, 404, target);
  }
});

const HASHES = /^authserve_password_hashes_total \d+$/m;

test("L10 above the limit even the right password gets 429, with the wait in whole seconds, and nothing is hashed", async () => {
  await exhaust("10.10.0.1", "unknown-10@example.com");
  await exhaust("10.10.0.1", EMAIL);
  const hashes = async () => HASHES.exec((await ask(server, "/metrics")).text)?.[0];
  const before = await hashes();
  const right = await tryLogin(server, {}, { "X-Forwarded-For": "10.10.0.1" });
  for (const answer of [right, await guess("10.10.0.1", "unknown-10@example.com")]) {
    assertProblem(answer, 429, "too_many_attempts");
    const seconds = answer.headers.get("retry-after") ?? "";
    assert.match(seconds, /^[1-9][0-9]*$/);
    assert.ok(Number(seconds) <= 300);
  }
  assert.ok(before);
  assert.equal(await hashes(), before);
});

test("L7 an address claimed by the client is ignored", async () => {
  await using direct = await startServer();
  const claims = (n: number) => ({
    "X-Forwarded-For": `10.7.0.${n}`,
    Forwarded: `for=10.7.0.${n}`,
    "X-Real-IP": `10.7.0.${n}`,
    "True-Client-IP": `10.7.0.${n}`,
  });
  const statuses: number[] = [];
  for (let n = 0; n < LIMIT + 2; n++) {
    statuses.push((await tryLogin(direct, { password: "a wrong password" }, claims(n))).status);
  }
  assert.deepEqual(statuses, [...Array(LIMIT).fill(401), 429, 429]);
});

test("L9 a flood of logins from one network blocks neither the owner nor another network", async () => {
  // A hash of realistic cost, so that guesses queue up.
  const hash = await argon2.hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  await using slow = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.1", DEMO_PASSWORD: hash } });
  const from = (address: string) => tryLogin(slow, {}, { "X-Forwarded-For": address });
  assert.equal((await from("10.9.9.1")).status, 200);

  let isOver = false;
  const seen = new Set<number>();
  let sent = 0;
  const flood = Array.from({ length: 200 }, async () => {
    for (let status = 401; status === 401 && !isOver; seen.add(status)) {
      status = (await guess("10.9.9.2", `flood-${sent++}@example.com`, slow)).status;
    }
  });
  await until(() => seen.has(503));
  for (let n = 0; n < 5; n++) assert.equal((await from("10.9.9.1")).status, 200);
  assert.equal((await from("10.9.9.3")).status, 200);
  isOver = true;
  await Promise.all(flood);
  // 429 once the flood reaches the limit of its address.
  assert.deepEqual([...seen].filter((status) => status !== 429).sort(), [401, 503]);
});

test("L4 different e-mails from one address share a limit, above which nothing is hashed", async () => {
  await using own = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
  const guesses = Array.from({ length: 80 }, (_, n) => guess("10.9.2.1", `fresh-${n}@example.com`, own));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 50);
  assert.equal(statuses.filter((status) => status === 429).length, 30);
  assert.match((await ask(own, "/metrics")).text, /^authserve_password_hashes_total 50$/m);
  assert.equal((await tryLogin(own, {}, { "X-Forwarded-For": "10.9.2.2" })).status, 200);
});

test("L9 the owner logs in from a known address while guesses from elsewhere keep the e-mail at its limit", async () => {
  await using own = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
  const fromHome = { "X-Forwarded-For": "192.0.2.1" };
  assert.equal((await tryLogin(own, {}, fromHome)).status, 200);
  const guesses = Array.from({ length: 120 }, (_, n) => guess(`10.9.0.${n + 1}`, EMAIL, own));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 100);
  assert.equal(statuses.filter((status) => status === 429).length, 20);
  assert.equal((await tryLogin(own, {}, { "X-Forwarded-For": "10.9.1.1" })).status, 429);
  assert.equal((await tryLogin(own, {}, fromHome)).status, 200);
  assert.equal((await guess("192.0.2.1", EMAIL, own)).status, 401);
});

test("L12 a restart keeps the counts", async () => {
  await using first = await startServer();
  for (let n = 0; n < LIMIT; n++) await guess("-", EMAIL, first);
  await first.stop();
  await using second = await startServer({ dir: first.dir });
  assertProblem(await guess("-", EMAIL, second), 429, "too_many_attempts");
});
