import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ask, assertProblem, deliver, post, tryLogin } from "../../helpers/client.ts";
import { EMAIL, PASSWORD } from "../../helpers/credentials.ts";
import { request, sendRaw, statusesIn } from "../../helpers/raw-http.ts";
import { startServer } from "../../helpers/server.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const BODY = JSON.stringify({ email: EMAIL, password: PASSWORD });
const login = (body: string | Buffer, headers: Record<string, string> = {}) =>
  post(server, "/auth/login", body, headers);

test("B1 an extra property is refused", async () => {
  assertProblem(await tryLogin(server, { admin: true }), 400, "validation_failed");
});

test("B2 __proto__, constructor and toString are extra properties like any other", async () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"]) {
    for (const value of ["{}", '{"email":"x"}', "1", "null"]) {
      assertProblem(await login(`{"${name}":${value},${BODY.slice(1)}`), 400, "validation_failed");
    }
  }
  assertProblem(await login(`{"__proto__":${BODY}}`), 400, "validation_failed");
});

test("B3 a repeated member name is refused, also escaped and with the same value", async () => {
  for (const twice of [
    `"password":"${PASSWORD}"`,
    `"pass\\u0077ord":"${PASSWORD}"`,
    '"password":"wrong password"',
    `"email":"${EMAIL}"`,
  ]) {
    assertProblem(await login(`{${twice},${BODY.slice(1)}`), 400, "malformed_json");
  }
});

test("B4 a Content-Type other than JSON in UTF-8 is refused", async () => {
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/json; charset=utf-16",
  ]) {
    assertProblem(await login(BODY, { "Content-Type": type }), 415, "unsupported_media_type");
  }
  const none = await request(server.port, {
    method: "POST",
    target: "/auth/login",
    lines: [`Content-Length: ${BODY.length}`],
    body: BODY,
  });
  assert.equal(none.status, 415);
  const two = await request(server.port, {
    method: "POST",
    target: "/auth/login",
    lines: [`Content-Length: ${BODY.length}`, "Content-Type: application/json", "Content-Type: text/plain"],
    body: BODY,
  });
  assert.equal(two.status, 415);
});

test("B5 a body with a Content-Encoding is refused", async () => {
  assertProblem(await login(BODY, { "Content-Encoding": "gzip" }), 415, "unsupported_media_type");
});

test("B6 a chunked body that never ends is cut off at the limit", async () => {
  const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
  const answer = await request(server.port, {
    method: "POST",
    target: "/auth/login",
    lines: ["Content-Type: application/json", "Transfer-Encoding: chunked"],
    body: chunk.repeat(8),
  });
  assert.equal(answer.status, 413);
});

test("B7 a signed body with 100,000 members or levels is read or refused", async () => {
  const members = `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":0`).join()}}`;
  const colliding = `{${Array.from({ length: 50_000 }, (_, n) => `"${n * 65_536}":0`).join()}}`;
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  for (const body of [members, colliding, deep]) {
    const answer = await deliver(server, body);
    assert.ok(answer.status === 413 || answer.status === 400 || answer.status === 200, String(answer.status));
  }
  assertProblem(await login(members), 413, "payload_too_large");
});

test("B8 a body that is not an object is refused", async () => {
  for (const body of ["null", "[]", '"x"', "1", "true", `[${BODY}]`])
    assertProblem(await login(body), 400, "validation_failed");
  assertProblem(await login(""), 400, "malformed_json");
});

test("B9 a body that only resembles JSON is refused", async () => {
  const [open] = [BODY.slice(0, -1)];
  const bodies = [
    `${open},}`,
    `${open},"x":NaN}`,
    `${open},"x":Infinity}`,
    `${open},"x":0x1}`,
    `${open},"x":01}`,
    `${open},"x":.5}`,
    `${open},"x":+1}`,
    `${open},"x":1.}`,
    `${open},"x":"\t"}`,
    `${open},"x":"\\x41"}`,
    `${open},"x":"\\u12"}`,
    `${open},x:1}`,
    `/* a */${BODY}`,
    `${BODY}//`,
    `${BODY}${BODY}`,
    `${BODY}\0`,
    `\u00a0${BODY}`,
    BODY.replaceAll('"', "'"),
    `\ufeff${BODY}`,
    "{",
    `{"email":"${EMAIL}" "password":"${PASSWORD}"}`,
    `{"email","password"}`,
  ];
  for (const body of bodies) assertProblem(await login(body), 400, "malformed_json");
  for (const body of [
    Buffer.from(BODY, "utf16le"),
    Buffer.concat([Buffer.from(`${open},"x":"`), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
  ]) {
    assertProblem(await login(body), 400, "malformed_json");
  }
});

test("B10 a number, a boolean, a list or null instead of a string is refused", async () => {
  for (const value of [1, true, null, [EMAIL], { a: 1 }]) {
    assertProblem(await tryLogin(server, { email: value }), 400, "validation_failed");
    assertProblem(await tryLogin(server, { password: value }), 400, "validation_failed");
  }
});

test("B12 HTTP/1.1 without Host gets a problem with every header, and an unknown Expect is ignored", async () => {
  const bare = await sendRaw(server.port, "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n");
  assert.equal(bare.status, 400);
  assert.equal(JSON.parse(bare.body).code, "bad_request");
  assert.equal(bare.headers["x-content-type-options"], "nosniff");
  assert.ok(bare.headers["x-request-id"]);
  const old = await sendRaw(server.port, "GET /healthz HTTP/1.0\r\n\r\n");
  assert.equal(old.status, 200);
  const expecting = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\nConnection: close\r\n\r\n";
  assert.equal((await sendRaw(server.port, expecting)).status, 200);
});

test("B11 GET on login is 405 with Allow", async () => {
  const answer = await ask(server, "/auth/login");
  assertProblem(answer, 405, "method_not_allowed");
  assert.equal(answer.headers.get("allow"), "POST");
});

test("B11 an unknown method is 405 on a known path and 404 elsewhere", async () => {
  for (const method of ["LOGIN", "get", "GETTING", "P"]) {
    const answer = await request(server.port, { method });
    assert.equal(answer.status, 405, method);
    assert.equal(answer.headers.allow, "GET, HEAD");
    assert.equal(answer.headers["content-type"], "application/problem+json");
    assert.equal(JSON.parse(answer.body).code, "method_not_allowed");
    assert.equal((await request(server.port, { method, target: "/nothing?x" })).status, 404);
  }
  for (const method of ["DESCRIBE", "PLAY", "GET_PARAMETER", "PRI"]) {
    assert.equal((await request(server.port, { method })).status, 405, method);
  }
  const { headers } = await request(server.port, { method: "FOO", lines: ["x-request-id:  mine "] });
  assert.equal(headers["x-request-id"], "mine");
  const body =
    "POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  for (const method of ["FOO", "PUTT", "get", "DESCRIBE"]) {
    const { text } = await sendRaw(server.port, `${body}${method} /auth/me HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    assert.deepEqual(statusesIn(text), [403, 405], method);
  }
  const ahead = "GET /auth/me HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const { text } = await sendRaw(server.port, `${ahead}BREW /auth/login HTTP/1.1\r\nHost: localhost\r\n\r\n${ahead}`);
  assert.deepEqual(statusesIn(text), [401, 405]);
  assert.match(text, /^Allow: POST\r$/m);
});

const rawCases: Record<string, string> = {
  "two Host headers": "GET /auth/me HTTP/1.1\r\nHost: localhost\r\nHost: other\r\n\r\n",
  "two equal Host headers": "GET /auth/me HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
  "no Host header": "GET /auth/me HTTP/1.1\r\n\r\n",
  "Content-Length and Transfer-Encoding":
    "POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "two Content-Lengths":
    "POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
  "a Content-Length with a sign": "POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: +1\r\n\r\na",
  "an unknown Transfer-Encoding": "POST /auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n",
  "a coding in front of chunked":
    "POST /auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
  "a blank in Host": "GET /auth/me HTTP/1.1\r\nHost: a b\r\n\r\n",
  "a path in Host": "GET /auth/me HTTP/1.1\r\nHost: a/b\r\n\r\n",
  "a user in Host": "GET /auth/me HTTP/1.1\r\nHost: a@b\r\n\r\n",
  "half an IPv6 address in Host": "GET /auth/me HTTP/1.1\r\nHost: [::1\r\n\r\n",
  "a long port in Host": "GET /auth/me HTTP/1.1\r\nHost: a:999999\r\n\r\n",
  "chunks by HTTP/1.0": "POST /auth/login HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "HTTP/2.0 in the form of HTTP/1.1": "GET /auth/me HTTP/2.0\r\nHost: localhost\r\n\r\n",
  "chunked that is not last":
    "POST /auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
  "a folded header": "GET /auth/me HTTP/1.1\r\nHost: localhost\r\nX-Folded: a\r\n b\r\n\r\n",
  "line ends without CR": "GET /auth/me HTTP/1.1\nHost: a\n\n",
  "a header line end without CR": "GET /auth/me HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
  "NUL in a header": "GET /auth/me HTTP/1.1\r\nHost: localhost\r\nX-Nul: a\0b\r\n\r\n",
  "a space before the colon": "GET /auth/me HTTP/1.1\r\nHost: localhost\r\nX-Space : b\r\n\r\n",
  "a header name with a control character": "GET /auth/me HTTP/1.1\r\nHost: localhost\r\nX\x01: b\r\n\r\n",
  "an unknown method without an HTTP version": "LOGIN /auth/me\r\nHost: localhost\r\n\r\n",
  "an unknown method and a line end without CR": "LOGIN /auth/me HTTP/1.1\nHost: localhost\r\n\r\n",
  "an unknown method without a Host": "LOGIN /auth/me HTTP/1.1\r\n\r\n",
  "a method that is no token": "LOG(IN) /auth/me HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "something that is not HTTP": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
};
for (const [name, bytes] of Object.entries(rawCases)) {
  test(`B12 ${name}: 400 once and the connection is closed`, async () => {
    const answer = await sendRaw(server.port, Buffer.from(bytes, "latin1"));
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.text.split("HTTP/1.1 ").length, 2);
  });
}
