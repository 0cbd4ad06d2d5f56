import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { ask, assertProblem, logIn, me, post, tryLogin } from "../../helpers/client.ts";
import { authserve, type Finished } from "../../helpers/command.ts";
import { cheapHash, EMAIL } from "../../helpers/credentials.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { claimsOf } from "../../helpers/sign.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const ADA = { email: "ada@example.com", password: "the password of ada" };
const BEN = { email: "ben@example.com", password: "the password of ben" };

const PEOPLE = `people:
  me: { email: ${EMAIL}, groups: [family] }
  ada: { name: Ada, email: ${ADA.email}, passwordHash: env:ADA_HASH, groups: [family, admin], owner: true }
  ben: { email: ${BEN.email}, groups: [family] }
`;
const ACCESS = `access:
  - { host: photos.example.com, allow: ["group:family"] }
  - { host: admin.example.com, allow: ["group:admin"] }
  - { host: ben.example.com, allow: ["person:ben", token] }
`;

/** A server with three people: that of the environment, ada who is an owner, and ben who has no password. */
async function startFamily(env: Record<string, string> = {}): Promise<Server> {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), PEOPLE + ACCESS);
  return startServer({ dir, env: { ADA_HASH: await cheapHash(ADA.password), TRUSTED_PROXIES: "127.0.0.1", ...env } });
}

const json = ({ stdout, stderr }: Finished) => {
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
};

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Lets ben choose a password, by the command. */
const setPassword = (server: Server, name = "ben", password = BEN.password) =>
  authserve(["passwd", name], { dir: server.dir, env: server.env, input: password });

suite("authserve people", { concurrency: 2 }, async () => {
  const server = await startFamily();
  after(() => server[Symbol.asyncDispose]());

  test("lists everybody with what a login needs, and the live session", async () => {
    await using own = await startFamily();
    await logIn(own, ADA);
    const listed = await own.run(["people", "list", "--json"]);
    const [first, ada, ben] = json(listed);
    assert.ok(!listed.stdout.includes("argon2"));
    assert.deepEqual(first, {
      name: "me",
      id: "1",
      email: EMAIL,
      displayName: null,
      groups: ["family"],
      owner: true,
      password: "configured",
      factors: 0,
      session: null,
      lastLoginAt: null,
    });
    const { session, lastLoginAt } = ada;
    assert.deepEqual(
      [ada.name, ada.id, ada.displayName, ada.owner, session.network, session.since],
      ["ada", "ada", "Ada", true, "127.0.0.0/24", lastLoginAt],
    );
    assert.deepEqual([ben.owner, ben.password, ben.session], [false, null, null]);

    await setPassword(own);
    const { stdout } = await own.run(["tokens", "create", "laptop", "--scope", "events:read"]);
    const file = join(own.dir, "token");
    writeFileSync(file, stdout);
    const remote = ["people", "list", "--json", "--server", own.url, "--token-file", file];
    const there = json(await authserve(remote, { dir: workingDir(), env: {} }));
    assert.deepEqual(there, json(await own.run(["people", "list", "--json"])));
    assert.equal(there[2].password, "chosen");
  });

  test("says who of the file is not taken over yet", async () => {
    await using first = await startFamily();
    await first.stop();
    const { dir, env } = first;
    writeFileSync(join(dir, "authserve.yaml"), `${PEOPLE}  cleo: { email: cleo@example.com }\n`);
    const { stdout, stderr } = await first.run(["people", "list"]);
    assert.doesNotMatch(stdout, /cleo/);
    assert.match(stderr, /^warning: No server has taken over cleo of authserve\.yaml: start the server, or run/);
    const refused = await setPassword(first, "cleo");
    assert.deepEqual([refused.code, /has taken over cleo/.test(refused.stderr)], [2, true]);
    await using own = await startServer({ dir, env });
    assert.equal((await setPassword(own, "cleo", "the password of cleo")).code, 0);
    await logIn(own, { email: "cleo@example.com", password: "the password of cleo" });
  });

  test("passwd gives a person a password, and a new one ends the session", async () => {
    await using own = await startFamily();
    assert.equal((await tryLogin(own, BEN)).status, 401);
    const first = await setPassword(own);
    assert.deepEqual([first.code, first.stdout, first.stderr], [0, "", "The password of ben is changed.\n"]);
    const token = await logIn(own, BEN);
    const second = await setPassword(own, "ben", "another password of ben");
    assert.match(second.stderr, /"event":"session_revoked"/);
    assertProblem(await me(own, token), 401, "session_invalidated");
    assert.equal((await tryLogin(own, BEN)).status, 401);
    await logIn(own, { ...BEN, password: "another password of ben" });
  });

  for (const [name, found] of [
    ["ada", "The password of ada is that of people.ada.passwordHash"],
    ["me", "The password of me is that of DEMO_PASSWORD"],
    ["1", "The password of me is that of DEMO_PASSWORD"],
    ["eve", "There is no person eve\n  hint: name one of me, ada, ben"],
  ] as const)
    test(`passwd ${name} says why that is not possible`, async () => {
      const { code, stderr } = await setPassword(server, name);
      assert.equal(code, 2);
      assert.ok(stderr.startsWith(`error: ${found}\n`), stderr);
    });

  test("factors are managed for a person, and nobody else", async () => {
    await using own = await startFamily();
    const run = (...args: string[]) => own.run(["factors", ...args]);
    const added = json(await run("add-totp", "--person", "ben", "--unconfirmed", "--json"));
    assert.match(decodeURIComponent(added.uri), /:ben@example\.com\?/);
    const ids = async (...args: string[]) =>
      json(await run("list", "--json", ...args)).factors.map(({ id }: { id: string }) => id);
    assert.deepEqual([await ids(), await ids("--person", "ben"), await ids("--person", "me")], [[], [added.id], []]);
    const codes = await run("recovery-codes", "--person", "ben");
    assert.equal(codes.stdout.trim().split("\n").length, 10);
    assert.equal((await run("remove", added.id)).code, 1);
    const removed = await run("remove", "--all", "--person", "ben", "--json");
    assert.deepEqual(json(removed), { removed: [added.id] });
    assert.match(removed.stderr, /"person":"ben"/);
    const [last] = json(await own.run(["audit", "list", "--json", "--limit", "1"]));
    assert.deepEqual([last.action, last.detail.person], ["factor.remove", "ben"]);
    assert.match((await run("list", "--person", "ben")).stderr, /^ben has no second factor\.$/m);
  });

  test("a session is shown and ended by name or id, and by the API it is that of who asks", async () => {
    await using own = await startFamily();
    await setPassword(own);
    const [owner, ada, ben] = await Promise.all([logIn(own), logIn(own, ADA), logIn(own, BEN)]);
    const show = async (...args: string[]) => json(await own.run(["session", "show", ...args, "--json"]));
    for (const [args, token, id] of [
      [[], owner, "1"],
      [["me"], owner, "1"],
      [["1"], owner, "1"],
      [["ada"], ada, "ada"],
    ] as const)
      assert.deepEqual([(await show(...args)).userId, (await show(...args)).sid], [id, claimsOf(token).sid]);
    assert.equal((await own.run(["session", "revoke", "eve"])).code, 2);

    const get = (path: string, token: string) => ask(own, `/admin/api/${path}`, { headers: bearer(token) });
    const { json: shown } = await get("session", ada);
    assert.deepEqual([shown.userId, shown.email, shown.sid], ["ada", ADA.email, claimsOf(ada).sid]);
    assert.equal((await get("session?person=ben", ada)).json.sid, claimsOf(ben).sid);
    assert.match((await get("session?person=eve", ada)).text, /must be one of me, ada, ben/);
    assertProblem(await get("session", ben), 403, "owner_only");

    const created = await own.run(["tokens", "create", "ada/laptop", "--scope", "events:read"]);
    assert.equal((await get("session", created.stdout.trim())).json.userId, "ada");
    const file = join(own.dir, "token");
    writeFileSync(file, created.stdout);
    const there = ["--server", own.url, "--token-file", file];
    assert.deepEqual(await show("ben", ...there), await show("ben"));

    const end = (body: object) => post(own, "/admin/api/session/revoke", body, bearer(ada));
    assert.deepEqual((await end({ person: "ben" })).json, { revoked: true });
    assertProblem(await me(own, ben), 401, "session_invalidated");
    assert.deepEqual((await end({})).json, { revoked: true });
    assertProblem(await me(own, ada), 401, "session_invalidated");
    assert.equal((await me(own, owner)).status, 200);
    const changes = json(await own.run(["audit", "list", "--json", "--limit", "2"]));
    assert.deepEqual(
      changes.map(({ who, detail }: { who: string; detail: Record<string, unknown> }) => [
        who,
        detail.userId ?? detail.person,
      ]),
      [
        ["session:ada", "ada"],
        ["session:ada", "ben"],
      ],
    );
  });

  test("a token of a person passes as that person, with the scopes that the person may have", async () => {
    await using own = await startFamily();
    const create = (name: string, ...scopes: string[]) => own.run(["tokens", "create", name, "--scope", ...scopes]);
    const token = (await create("ben/phone", "verify")).stdout.trim();
    const { headers } = await ask(own, "/auth/verify", { headers: bearer(token) });
    assert.deepEqual([headers.get("remote-user"), headers.get("remote-token")], ["ben", "ben/phone"]);
    const refused = await create("ben/reader", "events:read");
    assert.deepEqual([refused.code, /must be verify or verify:HOST: ben is no owner/.test(refused.stderr)], [2, true]);
    assert.match((await create("eve/phone", "verify")).stderr, /must have a person of the file before the \//);
    const listed = json(await own.run(["tokens", "list", "--json"]));
    assert.deepEqual(
      listed.map(({ name }: { name: string }) => name),
      ["ben/phone"],
    );
    assert.deepEqual(json(await own.run(["tokens", "revoke", "ben/phone", "--json"])), { revoked: ["ben/phone"] });
    assert.equal((await ask(own, "/auth/verify", { headers: bearer(token) })).status, 401);
    const [last] = json(await own.run(["audit", "list", "--json", "--limit", "1"]));
    assert.deepEqual(last.detail.names, ["ben/phone"]);
  });

  test("access explain says who passes by a person or a group", async () => {
    for (const [name, scope] of [
      ["ben/phone", "verify"],
      ["mine", "verify"],
    ] as const)
      await server.run(["tokens", "create", name, "--scope", scope]);
    const family = "a session or a token of group:family";
    const admin = "a session or a token of group:admin";
    for (const [host, options, decision, reason] of [
      ["photos", [], "login", `entry 1 decides, and the request needs ${family}`],
      ["photos", ["--person", "ben"], "allowed", "entry 1 decides, and ben passes with a session"],
      ["photos", ["--person", "1"], "allowed", "entry 1 decides, and me passes with a session"],
      ["photos", ["--token", "ben/phone"], "allowed", "entry 1 decides, and the token ben/phone has the scope"],
      ["photos", ["--token", "mine"], "allowed", "entry 1 decides, and the token mine has the scope"],
      ["admin", ["--person", "ben"], "denied", `entry 2 decides, and ben does not pass: the request needs ${admin}`],
      [
        "admin",
        ["--token", "ben/phone"],
        "denied",
        "entry 2 decides, and the token ben/phone is of ben, who may not pass",
      ],
      ["ben", ["--token", "mine"], "allowed", "entry 3 decides, and the token mine has the scope"],
      [
        "ben",
        ["--person", "ada"],
        "denied",
        "entry 3 decides, and ada does not pass: the request needs a token or a session or a token of person:ben",
      ],
      ["other", ["--person", "ben"], "allowed", "no entry matches, and ben passes with a session"],
    ] as const) {
      const explained = await server.run(["access", "explain", `https://${host}.example.com/`, ...options]);
      assert.equal(explained.stdout, `${decision}: ${reason}\n`, explained.stderr);
    }
    for (const options of [
      ["--person", "eve"],
      ["--person", "ben", "--token", "mine"],
    ])
      assert.equal((await server.run(["access", "explain", "https://a.example.com/", ...options])).code, 2);
  });

  test("token explain knows the people of the file", async () => {
    const token = await logIn(server, ADA);
    const explain = async (env: Record<string, string> = {}) => {
      const options = { dir: server.dir, env: { ...server.env, ...env }, input: token };
      const { accepted, checks } = json(await authserve(["token", "explain", "--json"], options));
      const { detail } = checks.find(({ check }: { check: string }) => check === "user");
      return [accepted, detail];
    };
    assert.deepEqual(await explain(), [true, "its user and e-mail match the file"]);
    const file = join(workingDir(), "other.yaml");
    writeFileSync(file, PEOPLE.replace(/ {2}ada: .*\n/, "  eve: { email: eve@example.com, owner: true }\n"));
    assert.deepEqual(await explain({ CONFIG_FILE: file }), [
      false,
      "its user is not DEMO_USER_ID, nor an id of people in the file",
    ]);
  });

  test("failed logins are shown for each person, and forgotten at all e-mails of an address", async () => {
    await using own = await startFamily();
    const from = { "X-Forwarded-For": "203.0.113.7" };
    for (const email of [EMAIL, ADA.email, ADA.email]) await tryLogin(own, { email, password: "wrong password" }, from);
    const shown = json(await own.run(["throttle", "show", "--address", "203.0.113.7", "--json"]));
    assert.deepEqual([shown.user.failures, shown.address.failures, shown.address.inAll.failures], [1, 1, 3]);
    assert.deepEqual(
      shown.people.map(({ name, user, address }: Record<string, { failures: number }>) => [
        name,
        user?.failures,
        address?.failures,
      ]),
      [
        ["ada", 2, 2],
        ["ben", 0, 0],
      ],
    );
    assert.match((await own.run(["throttle", "show"])).stdout, /^codes of ada +0 +10 +-$/m);
    assert.deepEqual(json(await own.run(["throttle", "clear", "--address", "203.0.113.7", "--json"])), { cleared: 3 });
    const after = json(await own.run(["throttle", "show", "--json"]));
    assert.deepEqual([after.total.failures, after.people[0].user.failures], [0, 0]);
  });

  test("doctor says who cannot log in yet, and whose recovery codes are used up", async () => {
    await using own = await startFamily();
    await own.run(["factors", "add-totp", "--person", "ada", "--unconfirmed"]);
    for (const code of (await own.run(["factors", "recovery-codes", "--person", "ada"])).stdout.trim().split("\n"))
      assert.equal((await post(own, "/auth/login/code", { ...ADA, code })).status, 200);
    const findings = async (check: string) =>
      json(await own.run(["doctor", "--json"])).filter((finding: { check: string }) => finding.check === check);
    assert.deepEqual(await findings("recovery codes"), [
      {
        check: "recovery codes",
        verdict: "warning",
        found: "ada: no recovery codes are left",
        remedy: "run authserve factors recovery-codes --person ada",
      },
    ]);
    const [people] = await findings("people");
    assert.deepEqual(
      [people.found, people.remedy],
      ["3 people, and no password and no passkey of ben", "give each a link of authserve people invite"],
    );
    await setPassword(own);
    assert.deepEqual(await findings("people"), [
      { check: "people", verdict: "ok", found: "3 people can log in", remedy: null },
    ]);
  });
});
