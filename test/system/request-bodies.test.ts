import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { assertProblem, post } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { request } from "../helpers/raw-http.ts";
import { startServer } from "../helpers/server.ts";
import { PLAUSIBLE, signature } from "../helpers/sign.ts";

const server = await startServer({ env: { WEBHOOK_BODY_LIMIT: "64k" } });
after(() => server[Symbol.asyncDispose]());

const LOGIN = JSON.stringify({ email: EMAIL, password: PASSWORD });
const EVENT = JSON.stringify({ id: "body", type: "order.paid" });

const paths = [
  { path: "/auth/login", body: LOGIN, limit: 16 * 1024, malformed: "malformed_json" },
  { path: "/webhook", body: EVENT, limit: 64 * 1024, malformed: "invalid_payload" },
];

for (const { path, body, limit, malformed } of paths) {
  const send = (sent: string | Buffer, headers: Record<string, string> = {}) =>
    post(server, path, sent, { "X-Signature": signature(sent), ...headers });

  describe(`POST ${path}`, () => {
    test("JSON is accepted without a charset, or with any spelling of UTF-8", async () => {
      for (const type of [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        'application/json; charset="utf-8"',
      ]) {
        assert.equal((await send(body, { "Content-Type": type })).status, 200, type);
      }
    });

    test("any other content type is answered 415", async () => {
      for (const type of [
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/json; charset=latin1",
        "application/jsonp",
        "application/json, text/plain",
        "application/problem+json",
      ]) {
        assertProblem(await send(body, { "Content-Type": type }), 415, "unsupported_media_type");
      }
    });

    test("a missing content type is answered 415", async () => {
      const answer = await request(server.port, {
        method: "POST",
        target: path,
        lines: [`Content-Length: ${body.length}`, `X-Signature: ${signature(body)}`],
        body,
      });
      assert.equal(answer.status, 415);
    });

    test("a Content-Encoding is answered 415", async () => {
      for (const encoding of ["gzip", "br", "deflate", "gzip, identity", "unknown"]) {
        const sent = encoding === "gzip" ? gzipSync(body) : body;
        assertProblem(await send(sent, { "Content-Encoding": encoding }), 415, "unsupported_media_type");
      }
    });

    test("a body above the limit is answered 413 as soon as its length is announced", async () => {
      const answer = await request(server.port, {
        method: "POST",
        target: path,
        lines: ["Content-Type: application/json", `X-Signature: ${PLAUSIBLE}`, `Content-Length: ${limit + 1}`],
      });
      assert.equal(answer.status, 413);
      assert.equal(JSON.parse(answer.body).code, "payload_too_large");
    });

    test("a chunked body above the limit is answered 413 before it has ended", async () => {
      const chunk = "x".repeat(limit + 1);
      const answer = await request(server.port, {
        method: "POST",
        target: path,
        lines: ["Content-Type: application/json", `X-Signature: ${PLAUSIBLE}`, "Transfer-Encoding: chunked"],
        body: `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
      });
      assert.equal(answer.status, 413);
    });

    test("a body at the limit is read", async () => {
      const padded = body.padEnd(limit, " ");
      assert.equal((await send(padded)).status, 200);
      assertProblem(await send(`${padded} `), 413, "payload_too_large");
    });

    test("a chunked body is read like one with a known length", async () => {
      const answer = await request(server.port, {
        method: "POST",
        target: path,
        lines: ["Content-Type: application/json", "Transfer-Encoding: chunked", `X-Signature: ${signature(body)}`],
        body: `5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`,
      });
      assert.equal(answer.status, 200);
    });

    const bad: Record<string, string | Buffer> = {
      "a member name twice": `{"id":"x","id":"x",${body.slice(1)}`,
      "a member name twice, once escaped": `{"id":"x","\\u0069d":"x",${body.slice(1)}`,
      "invalid UTF-8": Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
      "an overlong UTF-8 sequence": Buffer.concat([
        Buffer.from('{"id":"'),
        Buffer.from([0xc0, 0xaf]),
        Buffer.from('"}'),
      ]),
      "a byte order mark": `\ufeff${body}`,
      "UTF-16": Buffer.from(body, "utf16le"),
      "an end that is missing": body.slice(0, -1),
      "more behind its end": `${body}{}`,
      nothing: "",
    };
    for (const [name, sent] of Object.entries(bad)) {
      test(`a body with ${name} is answered 400`, async () => assertProblem(await send(sent), 400, malformed));
    }

    test("a body of 100,000 levels is answered 400 and the server keeps running", async () => {
      const depth = Math.min(100_000, Math.floor(limit / 2) - 20);
      assertProblem(await send(`{"id":${"[".repeat(depth)}${"]".repeat(depth)}}`), 400, malformed);
      assert.equal((await send(body)).status, 200);
    });
  });
}

test("a signed webhook of 100,000 levels is answered 400 under the default limit", async () => {
  await using large = await startServer();
  const sent = `{"id":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  assertProblem(await post(large, "/webhook", sent, { "X-Signature": signature(sent) }), 400, "invalid_payload");
  assert.equal((await post(large, "/webhook", EVENT, { "X-Signature": signature(EVENT) })).status, 200);
});
