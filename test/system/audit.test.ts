import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import { openDatabase } from "../../src/sqlite/database.ts";
import { startAdmin } from "../contract/admin-api.ts";
import { AUDITED_COMMANDS } from "../helpers/audited-commands.ts";
import { databaseOf } from "../helpers/backup.ts";
import { ask, assertProblem, deliver, event, post } from "../helpers/client.ts";
import { authserve } from "../helpers/command.ts";
import { EMAIL, PASSWORD_HASH } from "../helpers/credentials.ts";
import { startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

interface Row {
  number: number;
  who: string;
  from: string;
  action: string;
  detail: Record<string, unknown>;
  hash: string;
}

/** The newest rows, without those that say that a change begins. */
const NEWEST = `
SELECT number, who, action FROM audit WHERE json_extract(detail, '$.begins') IS NULL ORDER BY number DESC LIMIT 3`;

suite("the audit", () => {
  test("has each change by the page, a token, a command and a server, with who, from where and what", async (t) => {
    const { server, send, get } = await startAdmin(t);
    const rows = async () => JSON.parse((await server.run(["audit", "list", "--json"])).stdout) as Row[];
    await until(async () => (await rows()).length === 1);
    await deliver(server, event("evt_1"));
    const created = await send("tokens", { name: "ci", scopes: ["events:write", "events:erase"] });
    const headers = { Authorization: `Bearer ${created.json.token}`, "Content-Type": "application/json" };
    const byToken = (path: string, body: object) =>
      ask(server, `/admin/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    await byToken("events/replay", { ids: ["evt_1"], dryRun: false });
    await byToken("events/erase", { filter: { search: "maria" }, reason: "asked for", dryRun: true });
    await byToken("events/erase", { filter: { search: "maria" }, reason: "asked for" });
    await server.run(["routes", "pause", "all"]);
    await server.run(["routes", "pause", "all"]);
    await server.run(["tokens", "revoke", "ci"]);

    const { stdout: whole } = await server.run(["audit", "list", "--json", "--all"]);
    const all = (JSON.parse(whole) as Row[]).reverse();
    const ended = new Map(all.map(({ number, detail: { begun } }) => [begun, number]));
    // Each of them is behind the row that says that it begins.
    for (const { number, detail } of all.filter(({ detail }) => detail.begins))
      assert.ok((ended.get(number) ?? 0) > number, JSON.stringify(detail));
    const found = (await rows())
      .reverse()
      .map(({ who, from, action, detail: { begun, ...detail } }) => [who, from, action, detail] as const);
    const user = `command:${userInfo().username}`;
    assert.deepEqual(
      found.map(([who, from, action]) => [who, from, action]),
      [
        ["server", "machine", "config.take"],
        ["session:1", "127.0.0.1", "token.create"],
        ["token:ci", "127.0.0.1", "events.replay"],
        ["token:ci", "127.0.0.1", "events.erase"],
        [user, "machine", "route.pause"],
        [user, "machine", "route.pause"],
        [user, "machine", "token.revoke"],
      ],
    );
    assert.deepEqual(found[2]?.[3], { ids: ["evt_1"], force: false, events: 0 });
    // A searched text is data of a person.
    assert.deepEqual(found[3]?.[3], { filter: { search: true }, reason: "asked for", events: 0, held: 0 });
    const pause = { route: "all", forMs: null };
    assert.deepEqual([found[4]?.[3], found[5]?.[3]], [pause, { ...pause, changed: false }]);
    const { json } = await get("audit?limit=4");
    assert.deepEqual((json.items as Row[])[0], (await rows())[0]);
    assert.equal(json.cursor, "7");
    const { json: earlier } = await get(`audit?cursor=${json.cursor}`);
    assert.deepEqual([...(json.items as Row[]), ...(earlier.items as Row[])], await rows());
    assert.equal(((await get("audit?all=true")).json.items as Row[]).length, all.length);
    const { stdout: text } = await server.run(["audit", "list"]);
    assert.deepEqual([text.match(/route\.pause/g)?.length, text.includes("begins")], [2, false]);
    assertProblem(await ask(server, "/admin/api/audit", { headers }), 401, "invalid_token");
    const logged = server.log("audited").map(({ number, hash }) => [number, hash]);
    const listed = all.slice(0, 7);
    assert.deepEqual(
      logged,
      listed.map(({ number, hash }) => [number, hash]),
    );
  });

  test("has a row of each command that changes something, before and after it", async (t) => {
    const dir = workingDir();
    writeFileSync(join(dir, ".env"), `DEMO_PASSWORD='${PASSWORD_HASH}'\n`);
    const key = join(dir, "key");
    writeFileSync(key, randomBytes(32).toString("base64"), { mode: 0o600 });
    writeFileSync(
      join(dir, "authserve.yaml"),
      `sources:
  shop: { verify: { header: x-sig }, secrets: [env:SECRET] }
  code: { preset: github, secrets: [env:SECRET], catchUp: { token: env:SECRET, hook: "http://127.0.0.1:9/repos/o/r/hooks/1", host: "http://127.0.0.1:9" } }
  tasks: { preset: asana, handshake: true }
routes:
  - { name: all, to: "http://127.0.0.1:9/" }
  - { name: copy, http: { url: "http://127.0.0.1:9/" }, shadow: { of: all } }
people:
  ada: { email: ${EMAIL}, owner: true }
  ben: { email: ben@example.com }
`,
    );
    const env = {
      SECRET: "a secret of the test",
      ENCRYPTION_KEYS: key,
      DEMO_PASSWORD: undefined,
      PUBLIC_URL: "https://auth.example.com",
    };
    const server = await startServer({ dir, env });
    t.after(() => server[Symbol.asyncDispose]());
    await deliver(server, event("evt_1"));
    const secret = { "X-Hook-Secret": "f36ac6ce08b57a1432e5a8dc8a2b2e95" };
    assert.equal((await post(server, "/webhook/tasks", {}, secret)).status, 200);
    assert.equal((await server.run(["backup", "backup"])).code, 0);
    // As `audit list` shows them, which would start a process each time.
    function newestRows(): Pick<Row, "number" | "who" | "action">[] {
      const database = new Sqlite(databaseOf(server), { readonly: true });
      try {
        return database.prepare<[], Row>(NEWEST).all();
      } finally {
        database.close();
      }
    }
    for (const [command, runs] of Object.entries(AUDITED_COMMANDS))
      for (const { action, args, input = "", isAlone } of runs) {
        if (isAlone) await server.stop();
        const before = newestRows()[0]?.number ?? 0;
        const { stderr } = await authserve([...command.split(" "), ...args], { dir, env: server.env, input });
        const added = newestRows().filter(({ number }) => isAlone || number > before);
        assert.ok(
          added.some((row) => row.action === action && row.who.startsWith("command:")),
          `${command}: ${stderr}`,
        );
      }
    const { stdout } = await server.run(["audit", "verify", "--json"]);
    assert.deepEqual(JSON.parse(stdout).faults, []);
  });

  test("is checked by a command, which finds what was changed by hand", async (t) => {
    const { server, send } = await startAdmin(t);
    for (const name of ["a", "b"]) await send("tokens", { name, scopes: ["metrics"] });
    const verify = async (...options: string[]) => {
      const { code, stdout, stderr } = await server.run(["audit", "verify", ...options]);
      return { code, stdout, stderr };
    };
    const whole = await verify("--json");
    assert.equal(whole.code, 0, whole.stderr);
    const { newest, faults } = JSON.parse(whole.stdout);
    assert.deepEqual(faults, []);
    const known = `${newest.number}:${newest.hash}`;
    assert.match((await verify("--known", known)).stderr, /5 rows of the audit are whole/);
    assert.equal((await verify("--known", "x")).code, 2);
    const database = openDatabase(join(server.dir, "data"));
    database.exec("UPDATE audit SET detail = replace(detail, 'metrics', 'events:read') WHERE number = 3");
    database.close();
    const broken = await verify();
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /^row 3 does not fit the row before it/m);
  });
});
