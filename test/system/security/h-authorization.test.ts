import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ask, assertProblem, logIn, me, tryLogin } from "../../helpers/client.ts";
import { EMAIL } from "../../helpers/credentials.ts";
import { request } from "../../helpers/raw-http.ts";
import { startServer } from "../../helpers/server.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const token = await logIn(server);
const withLines = (...lines: string[]) => request(server.port, { lines });

test("H1 the scheme is accepted in any case", async () => {
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
    assert.equal((await withLines(`Authorization: ${scheme} ${token}`)).status, 200, scheme);
  }
});

test("H2 anything but the scheme, one space and one token is refused", async () => {
  const values = [
    `Bearer  ${token}`,
    `Bearer\t${token}`,
    `Bearer,${token}`,
    `Bearer${token}`,
    `Bearer ${token} x`,
    `Bearer ${token},`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer "${token}"`,
    `Bearer token=${token}`,
    `Token ${token}`,
    `JWT ${token}`,
    token,
    `Basic ${Buffer.from(`${EMAIL}:${token}`).toString("base64")}`,
    "",
    "Bearer",
    "Bearer ",
    "Bearer null",
    "Bearer undefined",
    "Bearer é",
    "Bearer ".repeat(1000),
  ];
  for (const value of values) {
    const answer = await withLines(`Authorization: ${value}`);
    assert.equal(answer.status, 401, value.slice(0, 40));
    assert.equal(answer.headers["content-type"], "application/problem+json");
    assert.match(answer.headers["www-authenticate"] ?? "", /^Bearer/);
  }
});

test("H3 two Authorization headers are refused in either order, even if both are valid", async () => {
  const good = `Authorization: Bearer ${token}`;
  for (const lines of [
    [good, "Authorization: Bearer junk"],
    ["Authorization: Bearer junk", good],
    [good, "authorization: Basic eDp5"],
    ["AUTHORIZATION: x", good],
    [good, good],
    ["Authorization:", good],
  ]) {
    assert.equal((await withLines(...lines)).status, 401, lines.join());
  }
});

test("H4 a token outside of the Authorization header is ignored", async () => {
  for (const lines of [
    [`Authorization_: Bearer ${token}`],
    [`X-Authorization: Bearer ${token}`],
    [`Proxy-Authorization: Bearer ${token}`],
    [`Cookie: token=${token}; access_token=${token}; Authorization=Bearer ${token}`],
    [`X-Access-Token: ${token}`],
  ]) {
    assert.equal((await withLines(...lines)).status, 401, lines.join().slice(0, 30));
  }
  assert.equal((await ask(server, `/auth/me?access_token=${token}&authorization=Bearer%20${token}`)).status, 401);
  const trailer = await request(server.port, {
    lines: ["Transfer-Encoding: chunked", "Trailer: Authorization"],
    body: `0\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  });
  assert.equal(trailer.status, 401);
});

test("H5 OPTIONS reveals nothing of the user, with or without a token", async () => {
  for (const lines of [[], [`Authorization: Bearer ${token}`]]) {
    const answer = await request(server.port, {
      method: "OPTIONS",
      lines: ["Origin: https://evil.example", "Access-Control-Request-Headers: authorization", ...lines],
    });
    assert.equal(answer.status, 405);
    assert.ok(!answer.text.includes(EMAIL));
    assert.equal(answer.headers["access-control-allow-origin"], undefined);
  }
});

test("H6 answers with a token or the user forbid caching", async () => {
  const answers = [await me(server, token), await tryLogin(server, { password: "wrong password" })];
  await using own = await startServer();
  answers.push(await tryLogin(own));
  for (const { headers } of answers) assert.equal(headers.get("cache-control"), "no-store");
});

test("H7 HEAD needs a token like GET", async () => {
  assert.equal((await request(server.port, { method: "HEAD" })).status, 401);
  const answer = await request(server.port, { method: "HEAD", lines: [`Authorization: Bearer ${token}`] });
  assert.deepEqual([answer.status, answer.body], [200, ""]);
});

test("H8 the challenge names an error only if a token was sent", async () => {
  const none = await ask(server, "/auth/me");
  assertProblem(none, 401, "missing_token");
  assert.equal(none.headers.get("www-authenticate"), "Bearer");
  const bad = await me(server, "junk");
  assertProblem(bad, 401, "invalid_token");
  assert.equal(bad.headers.get("www-authenticate"), 'Bearer error="invalid_token"');
});
