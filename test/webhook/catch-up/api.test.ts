import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ApiError, createApi } from "../../../src/webhook/catch-up/api.ts";
import { type ApiRequest, linkOf } from "../../../src/webhook/provider/catch-up.ts";

const NOW = 1_800_000_000_000;
const ORIGIN = "https://api.example";

/** An API that gives these answers in turn. */
function open(
  ...answers: (Error | { status: number; headers?: Record<string, string>; text?: string; isCut?: boolean })[]
) {
  const waits: number[] = [];
  const requests: ApiRequest[] = [];
  const send = createApi({
    origins: [ORIGIN],
    async send(request) {
      const answer = answers[requests.length] ?? { status: 200 };
      requests.push(request);
      if (answer instanceof Error) throw answer;
      const { status, headers = {}, text = "{}", isCut = false } = answer;
      return { status, headers, text, isCut };
    },
    wait: async (ms) => void waits.push(ms),
    now: () => NOW,
  });
  return { get: () => send({ url: `${ORIGIN}/a?key=secret` }), send, waits, requests, sent: () => requests.length };
}

suite("a request to an API", () => {
  test("goes to no other host, which would get the credential", async () => {
    const { send, sent } = open();
    for (const url of ["https://api.example.evil.test/a", "http://api.example/a", "https://api.example:444/a"])
      await assert.rejects(send({ url }), /no request was sent/);
    assert.equal(sent(), 0);
  });

  test("is refused with the bound if its answer is longer", async () => {
    const { get } = open({ status: 200, isCut: true });
    await assert.rejects(get(), /^Error: GET \/a: the answer is longer than 16 MiB$/);
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

  // https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
  test("waits longer each time where GitHub names a secondary limit and not how long, then ends", async () => {
    const headers = { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": String(NOW / 1000 + 5) };
    const text = '{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}';
    const limit = { status: 403, headers, text };
    const { get, waits } = open(limit, limit, limit);
    await assert.rejects(get(), /the answer was 403, a rate limit until 2027-01-15T08:04:00.000Z \(You have exceeded/);
    assert.deepEqual(waits, [60_000, 120_000]);
  });

  test("ends with the difference of the clocks where a credential is refused", async () => {
    const date = new Date(NOW - 400_000).toUTCString();
    const { get } = open({ status: 401, headers: { date }, text: '{"message":"exp is too far in the future"}' });
    await assert.rejects(get(), /401 \(the clock of this machine is 6 min ahead of the provider's\)$/);
    await assert.rejects(open({ status: 401, headers: { date: new Date(NOW - 30_000).toUTCString() } }).get(), /401$/);
  });

  test("goes on after a day at the latest, whatever the answer says", async () => {
    const reset = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW) };
    const { get } = open({ status: 429, headers: reset });
    await assert.rejects(get(), (error) => error instanceof ApiError && error.notBefore === NOW + 86_400_000);
  });

  test("waits until the date of Retry-After", async () => {
    const { get, waits } = open({ status: 429, headers: { "retry-after": new Date(NOW + 30_000).toUTCString() } });
    await get();
    assert.deepEqual(waits, [30_000]);
  });

  test("is made again after a dropped connection, twice at most", async () => {
    const dropped = new Error("read ECONNRESET");
    const { get, waits, sent } = open(dropped, { status: 200 });
    await get();
    assert.deepEqual([sent(), waits], [2, [2000]]);
    await assert.rejects(open(dropped, dropped, dropped).get(), /^Error: GET \/a: read ECONNRESET$/);
  });

  test("fails with what the provider says, except of a wrong credential", async () => {
    for (const [text, reason] of [
      ['{"message":"Resource not accessible by personal access token"}', " (Resource not accessible by personal ac"],
      ['{"message":{"error":"Too many"}}', " (Too many)"],
      ['{"error":"insufficient_scope","error_description":"The request requires higher privileges"}', " (The request"],
      ['{"code":"not_found","detail":"Entity not found"}', " (Entity not found)"],
      ['{"error":{"type":"invalid_request_error","message":"No such\\u001b event"}}', " (No such"],
      ['{"name":"NOT_AUTHORIZED","message":"Authorization failed","debug_id":"1"}', " (Authorization failed)"],
      ["<html>", ""],
    ] as const)
      await assert.rejects(open({ status: 403, text }).get(), (error: Error) => {
        assert.ok(error.message.startsWith(`GET /a: the answer was 403${reason}`), error.message);
        assert.ok(!error.message.includes("\u001b"));
        return true;
      });
    const text = '{"error":{"message":"Invalid API Key provided: sk_test_****abcd"}}';
    await assert.rejects(open({ status: 401, text }).get(), /^Error: GET \/a: the answer was 401$/);
  });

  // https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
  test("follows redirects within the API, and keeps its method", async () => {
    const moved = { status: 307, headers: { location: "/repositories/1/b" } };
    const { send, requests } = open(moved);
    await send({ url: `${ORIGIN}/a`, method: "POST" });
    assert.deepEqual(
      requests.map(({ method, url }) => [method, url]),
      [
        ["POST", `${ORIGIN}/a`],
        ["POST", `${ORIGIN}/repositories/1/b`],
      ],
    );
    const away = open({ status: 301, headers: { location: "https://evil.test/a" } });
    await assert.rejects(away.get(), /no request was sent/);
    await assert.rejects(open({ ...moved, status: 301 }).send({ url: `${ORIGIN}/a`, method: "POST" }), /was 301$/);
  });

  test("waits for the pace of requests that change something", async () => {
    const { send, waits } = open();
    for (let n = 0; n < 2; n++) await send({ url: `${ORIGIN}/a`, method: "POST", paceMs: 1000 });
    assert.deepEqual(waits, [1000]);
  });

  test("need not be answered with JSON, unless that is read", async () => {
    const answer = await open({ status: 202, text: "Accepted" }).get();
    assert.equal(answer.text, "Accepted");
    assert.throws(() => answer.json, /the answer is no JSON$/);
  });

  test("is not read if it is nested deeper than any answer is", async () => {
    const answer = await open({ status: 200, text: "[".repeat(5000) + "]".repeat(5000) }).get();
    assert.throws(() => answer.json, /the answer has too many levels, names or values$/);
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
