import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { linkOf } from "../../../src/webhook/catch-up/adapter.ts";
import { ApiError, createApi } from "../../../src/webhook/catch-up/api.ts";

const NOW = 1_800_000_000_000;
const ORIGIN = "https://api.example";

/** An API that gives these answers in turn. */
function open(...answers: { status: number; headers?: Record<string, string>; text?: string }[]) {
  const waits: number[] = [];
  let sent = 0;
  const send = createApi({
    origins: [ORIGIN],
    async send() {
      const { status, headers = {}, text = "{}" } = answers[sent++] ?? { status: 200 };
      return { status, headers, text, isCut: false };
    },
    wait: async (ms) => void waits.push(ms),
    now: () => NOW,
  });
  return { get: () => send({ url: `${ORIGIN}/a?key=secret` }), send, waits, sent: () => sent };
}

suite("a request to an API", () => {
  test("goes to no other host, which would get the credential", async () => {
    const { send, sent } = open();
    for (const url of ["https://api.example.evil.test/a", "http://api.example/a", "https://api.example:444/a"])
      await assert.rejects(send({ url }), /no request was sent/);
    assert.equal(sent(), 0);
  });

  test("waits as long as the answer says, and tries again", async () => {
    const limit = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW / 1000 + 90) };
    const { get, waits } = open(
      { status: 429, headers: { "retry-after": "7" } },
      { status: 403, headers: limit },
      { status: 429 },
    );
    assert.deepEqual((await get()).json, {});
    assert.deepEqual(waits, [7000, 90_000, 60_000]);
  });

  test("ends when it would wait for too long, with when to go on", async () => {
    const { get, waits } = open({ status: 429, headers: { "retry-after": "3600" } });
    await assert.rejects(get(), (error) => error instanceof ApiError && error.notBefore === NOW + 3_600_000);
    assert.deepEqual(waits, []);
  });

  test("is tried again twice after a 5xx answer, and not after another one", async () => {
    const { get, sent } = open({ status: 502 }, { status: 500 }, { status: 503 });
    await assert.rejects(get(), /^Error: GET \/a: the answer was 503$/);
    assert.equal(sent(), 3);
    const refused = open({ status: 403 });
    await assert.rejects(refused.get(), /the answer was 403$/);
    assert.equal(refused.sent(), 1);
  });

  test("keeps the digits of large integers", async () => {
    const { get } = open({ status: 200, text: '{"id":12345678901234567890,"n":1}' });
    assert.deepEqual((await get()).json, { id: "12345678901234567890", n: 1 });
  });
});

test("the next page of a Link header is found", () => {
  const header = '<https://api.example/a?page=1>; rel="prev", <https://api.example/a?page=3&x=a,b>; rel="next"';
  assert.equal(linkOf(header, "next"), "https://api.example/a?page=3&x=a,b");
  assert.equal(linkOf('<https://api.example/a>; rel="first"', "next"), null);
  assert.equal(linkOf(undefined, "next"), null);
});
