import assert from "node:assert/strict";
import { test } from "node:test";
import {
  parseRawRequest,
  rawRequestOf,
  sentToOf,
  withUserOf,
  writeRawRequest,
} from "../../../src/webhook/held/raw-request.ts";

function parsed(text: string) {
  const request = parseRawRequest(Buffer.from(text));
  assert.ok(typeof request === "object", String(request));
  return { ...request, body: request.body.toString() };
}

test("a raw request may have LF or CRLF, and a body with either", () => {
  const body = '{"a":1}\r\n\n{"b":2}\n';
  for (const end of ["\n", "\r\n"]) {
    const head = ["POST /hook?x=1 HTTP/1.1", "Host: example.com", "X-Two: a", "x-two:b  "].join(end);
    assert.deepEqual(parsed(`${head}${end}${end}${body}`), {
      method: "POST",
      target: "/hook?x=1",
      headers: { host: "example.com", "x-two": "a, b" },
      rawHeaders: ["Host", "example.com", "X-Two", "a", "x-two", "b"],
      body,
      missingBytes: 0,
    });
  }
});

test("the body of a raw request is Content-Length bytes", () => {
  const head = (length: number) => `POST / HTTP/1.1\nContent-Length: ${length}\n\n`;
  assert.equal(parsed(`${head(3)}é.\n`).body, "é.");
  assert.deepEqual([parsed(`${head(9)}abc`).body, parsed(`${head(9)}abc`).missingBytes], ["abc", 6]);
  assert.equal(parsed(`${head(0)}abc`).body, "");
});

test("a raw request may have no body, and no version", () => {
  assert.equal(parsed("POST /\nHost: a\n").headers.host, "a");
  assert.equal(parsed("POST / HTTP/1.1\n\n").body, "");
});

test("what is no request is refused with its line", () => {
  for (const [text, line] of [
    ["", 1],
    ['{"a":1}', 1],
    ["POST / HTTP/1.1\nHost: a\nno header\n\n", 3],
  ] as const) {
    assert.match(String(parseRawRequest(Buffer.from(text))), new RegExp(`^line ${line} is no `));
  }
});

test("a request that is written is read again as it was", () => {
  const text = "PUT /hook?x=1 HTTP/1.1\r\nHost: a\r\nX-Two: 1\r\nX-Two: 2\r\n\r\n\u00e9";
  const request = parseRawRequest(Buffer.from(text));
  assert.ok(typeof request === "object");
  assert.equal(writeRawRequest(request).toString(), text);
});

test("a held delivery is the request that it was", () => {
  const headers = JSON.stringify({ host: "a", "x-forwarded-prefix": "/in", "set-cookie": ["b", "c"] });
  const held = { target: "/in/hook?x=1", headers, body: Buffer.from("x=1") };
  const posted = rawRequestOf({ ...held, method: "POST" });
  assert.deepEqual([posted.target, posted.body.toString()], ["/hook?x=1", "x=1"]);
  assert.equal(posted.headers["set-cookie"], "b, c");
  assert.equal(rawRequestOf({ ...held, method: "GET" }).body.length, 0);
});

test("the user and password of an address are those of Authorization, and no part of its host", () => {
  const raw = parseRawRequest(Buffer.from("POST /hook HTTP/1.1\nHost: a\n\n"));
  assert.ok(typeof raw === "object");
  for (const [url, user] of [
    ["https://user:p%40ss:w@example.com/hook?a=b", "user:p@ss:w"],
    ["https://user@example.com/hook?a=b", "user:"],
    ["https://user:p@ss@example.com/hook?a=b", "user:p@ss"],
  ] as const) {
    const sentTo = sentToOf(raw, url);
    assert.deepEqual([sentTo?.origin, sentTo?.target], ["https://example.com", "/hook?a=b"]);
    const { headers } = withUserOf(raw, sentTo ?? undefined);
    assert.equal(headers.authorization, `Basic ${Buffer.from(user).toString("base64")}`);
  }
  const own = { ...raw, headers: { authorization: "Bearer x" } };
  assert.equal(withUserOf(own, sentToOf(raw, "https://user@example.com/") ?? undefined), own);
  assert.deepEqual(sentToOf(raw, "https://example.com"), { origin: "https://example.com", target: "/" });
  assert.equal(sentToOf(raw, "https://user@/hook"), null);
});
