import assert from "node:assert/strict";
import { after, test } from "node:test";
import { logIn, logOut } from "../../helpers/client.ts";
import { authserve, type Finished } from "../../helpers/command.ts";
import { EMAIL, JWT_SECRET, OTHER_JWT_SECRET } from "../../helpers/credentials.ts";
import { startServer } from "../../helpers/server.ts";
import { type Claims, claimsOf, forge, HEADER } from "../../helpers/sign.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

function run(options: string[], input: string, env: Record<string, string> = {}): Promise<Finished> {
  return authserve(["token", "explain", ...options], { dir: server.dir, env: { ...server.env, ...env }, input });
}

const CHECKS = ["form", "signature", "header", "claims", "issued", "expiry", "user", "session"];

interface Explained {
  code: number | null;
  /** The result of each check in order: y, n, or - for not checked. */
  verdicts: string;
  details: Record<string, string>;
}

async function explain(token: string, env: Record<string, string> = {}): Promise<Explained> {
  const { code, stdout, stderr } = await run(["--json"], token, env);
  assert.equal(stderr, "");
  assert.ok(!stdout.includes(JWT_SECRET) && !stdout.includes(token));
  const { accepted, checks } = JSON.parse(stdout) as {
    accepted: boolean;
    checks: { check: string; passed: boolean | null; detail: string }[];
  };
  assert.deepEqual(
    checks.map(({ check }) => check),
    CHECKS,
  );
  assert.equal(accepted, code === 0);
  return {
    code,
    verdicts: checks.map(({ passed }) => (passed === null ? "-" : passed ? "y" : "n")).join(""),
    details: Object.fromEntries(checks.map(({ check, detail }) => [check, detail])),
  };
}

test("a token that is accepted passes every check", async () => {
  const token = await logIn(server);
  const { code, verdicts, details } = await explain(`${token}\n`);
  assert.deepEqual([code, verdicts], [0, "yyyyyyyy"]);
  assert.equal(details.signature, "signed with JWT_SECRET");
  assert.equal((await explain(`Bearer ${token}`)).verdicts, "yyyyyyyy");
  assert.equal((await explain(`authorization: Bearer ${token}`)).verdicts, "yyyyyyyy");
});

test("a superseded token is explained by the login that replaced its session", async () => {
  const token = await logIn(server);
  await logIn(server, {}, { "User-Agent": "curl/8.0" });
  const { code, verdicts, details } = await explain(token);
  assert.deepEqual([code, verdicts], [1, "yyyyyyyn"]);
  assert.match(details.session ?? "", /^superseded .* by a login from 127\.0\.0\.0\/24 with curl$/);
});

test("a logged out token has no session", async () => {
  const token = await logIn(server);
  await logOut(server, token);
  const { verdicts, details } = await explain(token);
  assert.equal(verdicts, "yyyyyyyn");
  assert.match(details.session ?? "", /no active session/);
});

test("each fault of a token fails its own check", async () => {
  const claims: Claims = claimsOf(await logIn(server));
  const now = Math.floor(Date.now() / 1000);
  const [header, payload, signature] = forge(HEADER, claims).split(".");
  const cases: [token: string, verdicts: string][] = [
    [`${header}=.${payload}.${signature}`, "n-------"],
    [`${header}.${payload?.slice(0, 9)}\n${payload?.slice(9)}.${signature}`, "n-------"],
    [`é.é.${signature}`, "n-------"],
    ["not-a-token", "n-------"],
    ["YQ.YQ.YQ", "n-------"],
    [forge(HEADER, claims, { secret: OTHER_JWT_SECRET }), "yn------"],
    [forge({ ...HEADER, kid: "1" }, claims), "yynyyyyy"],
    [forge(HEADER, { ...claims, role: "admin" }), "yyyn----"],
    [forge(HEADER, { ...claims, iat: now + 3600 }), "yyyynyyy"],
    [forge(HEADER, { ...claims, exp: now - 1 }), "yyyyynyy"],
    [forge(HEADER, { ...claims, email: "other@example.com" }), "yyyyyyny"],
    [forge(HEADER, { ...claims, exp: Number.MAX_SAFE_INTEGER }), "yyyyyyyy"],
  ];
  for (const [token, verdicts] of cases) assert.equal((await explain(token)).verdicts, verdicts, token);
});

test("a token of the previous secret is accepted and says so", async () => {
  const token = await logIn(server);
  const rotated = { JWT_SECRET: OTHER_JWT_SECRET, JWT_SECRET_PREVIOUS: JWT_SECRET };
  const { verdicts, details } = await explain(token, rotated);
  assert.equal(verdicts, "yyyyyyyy");
  assert.equal(details.signature, "signed with JWT_SECRET_PREVIOUS");
});

test("empty standard input is wrong usage, and messages go to standard error", async () => {
  assert.equal((await run([], "\n")).code, 2);
  const { stdout, stderr } = await run([], await logIn(server));
  assert.match(stdout, /^CHECK +PASSED +DETAIL$/m);
  assert.equal(stderr, "The token is accepted.\n");
  assert.ok(!stdout.includes(EMAIL));
});
