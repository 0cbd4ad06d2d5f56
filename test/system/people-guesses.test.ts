import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { type Answer, ask, tryLogin } from "../helpers/client.ts";
import { PageClient } from "../helpers/page-client.ts";
import { ADA, BEN, CLEO, startWithPeople } from "../helpers/people-server.ts";
import type { Server } from "../helpers/server.ts";

const NOBODY = { email: "nobody@example.com" };
const WRONG = { password: "a wrong password" };
const LIMIT = 10;

const start = (t: TestContext) => startWithPeople(t, { env: { TRUSTED_PROXIES: "127.0.0.1" } });
const from = (address: string) => ({ "X-Forwarded-For": address });
const guess = (server: Server, { email }: { email: string }, address: string) =>
  tryLogin(server, { email, ...WRONG }, from(address));

/** An answer without what differs for each request. */
function comparable({ status, headers, json }: Answer): object {
  const { requestId: _, ...body } = json;
  const kept = [...headers].filter(([name]) => !["date", "x-request-id", "retry-after"].includes(name));
  return { status, headers: kept, body };
}

async function hashesOf(server: Server): Promise<number> {
  const { text } = await ask(server, "/metrics");
  return Number(/^authserve_password_hashes_total (\d+)$/m.exec(text)?.[1]);
}

suite("a wrong login tells nothing of who exists", () => {
  test("by its answers up to the limit and above it, and by the hashes that it costs", async (t) => {
    const server = await start(t);
    const seen: object[] = [];
    for (const [n, person] of [BEN, CLEO, NOBODY, ADA].entries()) {
      const before = await hashesOf(server);
      const answers: object[] = [];
      for (let count = 0; count < LIMIT + 2; count++)
        answers.push(comparable(await guess(server, person, `192.0.2.${n}`)));
      seen.push({ answers, hashes: (await hashesOf(server)) - before });
    }
    for (const one of seen) assert.deepEqual(one, seen[0]);
    assert.equal((seen[0] as { hashes: number }).hashes, LIMIT);
  });

  test("on the page, whatever mark the browser has", async (t) => {
    const server = await start(t);
    const known = new PageClient(server, from("198.51.100.1"));
    assert.equal((await known.send("/login", BEN)).status, 303);
    known.cookies.delete("authserve");
    for (const browser of [new PageClient(server, from("192.0.2.1")), known]) {
      const texts: string[] = [];
      for (const { email } of [ADA, CLEO, NOBODY]) {
        const { status, text } = await browser.send("/login", { email, ...WRONG });
        assert.equal(status, 401);
        texts.push(text.replaceAll(email, "").replaceAll(/nonce-[\w-]+/g, ""));
      }
      assert.equal(texts[1], texts[0]);
      assert.equal(texts[2], texts[0]);
    }
  });
});

suite("wrong guesses at one person", () => {
  test("lock nobody else, from the same address and from others", async (t) => {
    const server = await start(t);
    for (let n = 0; n < LIMIT; n++) assert.equal((await guess(server, BEN, "192.0.2.1")).status, 401);
    assert.equal((await tryLogin(server, BEN, from("192.0.2.1"))).status, 429);
    for (const address of ["192.0.2.1", "192.0.2.2"])
      assert.equal((await tryLogin(server, ADA, from(address))).status, 200, address);
  });

  test("of a whole network at once lock only that e-mail, and not its owner at home", async (t) => {
    const server = await start(t);
    const home = "198.51.100.1";
    assert.equal((await tryLogin(server, BEN, from(home))).status, 200);
    const guesses = Array.from({ length: 100 }, (_, n) => guess(server, BEN, `203.0.113.${n}`));
    for (const { status } of await Promise.all(guesses)) assert.equal(status, 401);
    assert.equal((await tryLogin(server, BEN, from("192.0.2.9"))).status, 429);
    assert.equal((await tryLogin(server, BEN, from(home))).status, 200);
    assert.equal((await tryLogin(server, ADA, from("192.0.2.9"))).status, 200);
  });

  test("are no more with the mark of another's browser", async (t) => {
    const server = await start(t);
    const address = "192.0.2.1";
    const browser = new PageClient(server, from(address));
    assert.equal((await browser.send("/login", BEN)).status, 303);
    const guessAt = async ({ email }: { email: string }) => (await browser.send("/login", { email, ...WRONG })).status;
    const statuses: number[] = [];
    for (let n = 0; n < LIMIT + 1; n++) statuses.push(await guessAt(ADA));
    assert.deepEqual(statuses, [...Array(LIMIT).fill(401), 429]);
    const other = new PageClient(server, from(address));
    assert.equal((await other.send("/login", { email: ADA.email, ...WRONG })).status, 429, "those of the address");
    assert.equal(await guessAt(BEN), 401, "and those at ben are another count");
    assert.equal((await tryLogin(server, ADA, from("192.0.2.2"))).status, 200);
  });
});
