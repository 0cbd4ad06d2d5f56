import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Answer, ask, deliver, event, logIn, me, post, tryLogin } from "../helpers/client.ts";
import { request } from "../helpers/raw-http.ts";
import { startServer } from "../helpers/server.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("every response has a request id, forbids sniffing and caching, and names no software", async () => {
  const answers: Answer[] = [
    await tryLogin(server),
    await tryLogin(server, { password: "wrong password" }),
    await post(server, "/auth/login", "{"),
    await post(server, "/auth/login", "x".repeat(20_000)),
    await me(server, await logIn(server)),
    await ask(server, "/auth/me"),
    await ask(server, "/auth/login"),
    await ask(server, "/nothing-here"),
    await ask(server, "/healthz"),
    await ask(server, "/readyz"),
    await deliver(server, event("headers")),
    await post(server, "/webhook", event("headers")),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 401, 400, 413, 200, 401, 405, 404, 200, 200, 200, 403],
  );
  for (const { status, headers } of answers) {
    assert.match(headers.get("x-request-id") ?? "", UUID, String(status));
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("server"), null);
    assert.equal(headers.get("x-powered-by"), null);
    assert.equal(headers.get("strict-transport-security"), null);
  }
  assert.equal(new Set(answers.map(({ headers }) => headers.get("x-request-id"))).size, answers.length);
});

test("a valid request id of the client is returned, also in a problem", async () => {
  const answer = await ask(server, "/auth/me", { headers: { "X-Request-ID": "trace-42:a.b_c/d+e=" } });
  assert.equal(answer.headers.get("x-request-id"), "trace-42:a.b_c/d+e=");
  assert.equal(answer.json.requestId, "trace-42:a.b_c/d+e=");
});

test("a request id that could forge a log line or a page is replaced", async () => {
  for (const id of ["a b", "<script>", 'x"y', "x".repeat(129), "café", "{}"]) {
    const answer = await request(server.port, { lines: [`X-Request-ID: ${id}`] });
    assert.match(answer.headers["x-request-id"] ?? "", UUID, id);
    assert.ok(!answer.text.includes(id));
  }
});

test("a wrong method is answered 405 with the methods that are allowed", async () => {
  const wrong: [method: string, target: string, allow: string][] = [
    ["GET", "/auth/login", "POST"],
    ["PUT", "/auth/login", "POST"],
    ["GET", "/auth/logout", "POST"],
    ["POST", "/auth/me", "GET, HEAD"],
    ["OPTIONS", "/auth/me", "GET, HEAD"],
    ["DELETE", "/webhook", "POST"],
    ["GET", "/webhook", "POST"],
    ["HEAD", "/webhook", "POST"],
    ["TRACE", "/healthz", "GET, HEAD"],
  ];
  for (const [method, target, allow] of wrong) {
    const answer = await request(server.port, { method, target });
    assert.equal(answer.status, 405, `${method} ${target}`);
    assert.equal(answer.headers.allow, allow);
  }
});

test("a path that does not match exactly is answered 404, and not echoed", async () => {
  const targets = [
    "/auth/me/",
    "/auth/%6de",
    "//auth/me",
    "/x/../auth/me",
    "/./auth/me",
    "/auth//me",
    "/AUTH/ME",
    "/auth/me;reflected",
    "/auth/me%00",
    "/auth/me%3Freflected",
    "/auth",
    "/webhook/",
    "/login/",
    "/%2f",
    "/%3Cscript%3Ereflected",
    "/reflected?reflected=reflected",
    "/%",
    "/%ff%fe",
    "/__proto__",
    "/constructor",
  ];
  for (const target of targets) {
    const answer = await request(server.port, { target });
    assert.equal(answer.status, 404, target);
    assert.equal(JSON.parse(answer.body).code, "not_found");
    assert.doesNotMatch(answer.text, /reflected|script|auth\/me|proto__/i);
  }
});

test("a query does not change the route", async () => {
  const answer = await request(server.port, { target: "/auth/me?x=/healthz" });
  assert.equal(answer.status, 401);
});

test("a target in absolute form is served like its path", async () => {
  const answer = await request(server.port, { target: "http://localhost/auth/me" });
  assert.equal(answer.status, 401);
});

test("a target with user info is refused", async () => {
  for (const target of ["http://user@localhost/auth/me", "HTTP://localhost:80@other/healthz"]) {
    assert.equal((await request(server.port, { target })).status, 400);
  }
});

test("HEAD is answered like GET without a body", async () => {
  const answer = await request(server.port, { method: "HEAD", target: "/healthz" });
  assert.equal(answer.status, 200);
  assert.equal(answer.body, "");
});
