import assert from "node:assert/strict";
import { after, test } from "node:test";
import { logIn, tryLogin } from "../../helpers/client.ts";
import { EMAIL } from "../../helpers/credentials.ts";
import { startServer } from "../../helpers/server.ts";

const WRONG = { password: "wrong password" };
const from = (address: string) => ({ "X-Forwarded-For": address });

const PROXY = { TRUSTED_PROXIES: "127.0.0.1" };
const server = await startServer({ env: PROXY });
after(() => server[Symbol.asyncDispose]());

test("throttle show counts the failures at the user's e-mail, from an address and in total", async () => {
  await using own = await startServer({ env: PROXY });
  await tryLogin(own, WRONG, from("203.0.113.7"));
  const one = await own.run(["throttle", "show"]);
  assert.match(one.stdout, /^Total: 1 failed login, from 1 pair of address and e-mail\.$/m);
  for (let i = 0; i < 2; i++) await tryLogin(own, WRONG, from("203.0.113.7"));
  await tryLogin(own, { ...WRONG, email: "nobody@example.com" }, from("203.0.113.7"));
  const { code, stdout, stderr } = await own.run(["throttle", "show", "--address", "203.0.113.7", "--json"]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(JSON.parse(stdout), {
    total: { failures: 4, buckets: 2 },
    user: { failures: 3, limit: 100, retryAfterSeconds: 0 },
    codes: { failures: 0, limit: 10, retryAfterSeconds: 0 },
    address: {
      address: "203.0.113.7",
      failures: 3,
      limit: 10,
      retryAfterSeconds: 0,
      known: false,
      inAll: { failures: 4, limit: 50, retryAfterSeconds: 0 },
    },
  });
  const words = await own.run(["throttle", "show"]);
  assert.match(words.stdout, /^user +3 +100 +-$/m);
  assert.match(words.stdout, /^codes of the user +0 +10 +-$/m);
  assert.match(words.stdout, /^Total: 4 failed logins, from 2 pairs of address and e-mail\.$/m);
  assert.doesNotMatch(words.stdout + words.stderr, new RegExp(EMAIL));
});

test("throttle show accepts any spelling of an address, and says if it has logged in before", async () => {
  await logIn(server, {}, from("203.0.113.17"));
  for (let i = 0; i < 10; i++) await tryLogin(server, WRONG, from("203.0.113.17"));
  const { stdout } = await server.run(["throttle", "show", "--address", "::ffff:203.0.113.17", "--json"]);
  const { address } = JSON.parse(stdout);
  assert.deepEqual([address.address, address.failures, address.known], ["203.0.113.17", 10, true]);
  assert.ok(address.retryAfterSeconds > 0 && address.retryAfterSeconds <= 300);
});

test("throttle clear unlocks one address or all, while the server runs", async () => {
  for (const address of ["203.0.113.27", "203.0.113.28"]) {
    for (let i = 0; i < 10; i++) await tryLogin(server, WRONG, from(address));
    assert.equal((await tryLogin(server, {}, from(address))).status, 429);
  }
  const one = await server.run(["throttle", "clear", "--address", "203.0.113.27", "--json"]);
  assert.deepEqual(JSON.parse(one.stdout), { cleared: 10 });
  const line = JSON.parse(one.stderr);
  assert.deepEqual([line.event, line.cleared, line.address], ["throttle_cleared", 10, "203.0.113.27"]);
  assert.equal((await tryLogin(server, {}, from("203.0.113.27"))).status, 200);
  assert.equal((await tryLogin(server, {}, from("203.0.113.28"))).status, 429);
  assert.equal((await server.run(["throttle", "clear"])).code, 0);
  assert.equal((await tryLogin(server, {}, from("203.0.113.28"))).status, 200);
  assert.equal((await server.run(["throttle", "clear"])).stderr, "There are no failed logins to forget.\n");
});

test("an invalid --address is wrong usage", async () => {
  const { code, stderr } = await server.run(["throttle", "show", "--address", "localhost"]);
  assert.equal(code, 2);
  assert.match(stderr, /--address is not an IP address/);
});
