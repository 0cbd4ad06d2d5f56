import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { AUDIT_ACTIONS } from "../../src/audit/store.ts";
import { openDatabase } from "../../src/sqlite/database.ts";
import { startAdmin } from "../contract/admin-api.ts";
import { ask, assertProblem, deliver, event } from "../helpers/client.ts";
import { until } from "../helpers/until.ts";

interface Row {
  number: number;
  who: string;
  from: string;
  action: string;
  detail: Record<string, unknown>;
  hash: string;
}

suite("the audit", () => {
  test("has each change by the page, a token, a command and a server, with who, from where and what", async (t) => {
    const { server, send, get } = await startAdmin(t);
    const rows = async () => JSON.parse((await server.run(["audit", "list", "--json"])).stdout) as Row[];
    await until(async () => (await rows()).length === 1);
    await deliver(server, event("evt_1"));
    const created = await send("tokens", { name: "ci", scopes: ["events:write"] });
    const headers = { Authorization: `Bearer ${created.json.token}`, "Content-Type": "application/json" };
    const byToken = (path: string, body: object) =>
      ask(server, `/admin/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    await byToken("events/replay", { ids: ["evt_1"], dryRun: false });
    await byToken("events/erase", { filter: { search: "maria" }, reason: "asked for", dryRun: true });
    await byToken("events/erase", { filter: { search: "maria" }, reason: "asked for" });
    await server.run(["routes", "pause", "all"]);
    await server.run(["routes", "pause", "all"]);
    await server.run(["tokens", "revoke", "ci"]);

    const found = (await rows()).reverse().map(({ who, from, action, detail }) => [who, from, action, detail] as const);
    const user = `command:${userInfo().username}`;
    assert.deepEqual(
      found.map(([who, from, action]) => [who, from, action]),
      [
        ["server", "machine", "config.take"],
        ["session:1", "127.0.0.1", "token.create"],
        ["token:ci", "127.0.0.1", "events.replay"],
        ["token:ci", "127.0.0.1", "events.erase"],
        [user, "machine", "route.pause"],
        [user, "machine", "token.revoke"],
      ],
    );
    assert.deepEqual(found[2]?.[3], { ids: ["evt_1"], force: false, events: 0 });
    // A searched text is data of a person.
    assert.deepEqual(found[3]?.[3], { filter: { search: true }, reason: "asked for", events: 0, held: 0 });
    const { json } = await get("audit?limit=4");
    assert.deepEqual((json.items as Row[])[0], (await rows())[0]);
    assert.equal(json.cursor, "3");
    assertProblem(await ask(server, "/admin/api/audit", { headers }), 401, "invalid_token");
    const logged = server.log("audited").map(({ number, hash }) => [number, hash]);
    const listed = (await rows()).reverse().slice(0, 4);
    assert.deepEqual(
      logged,
      listed.map(({ number, hash }) => [number, hash]),
    );
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
    assert.match((await verify("--known", known)).stderr, /3 rows of the audit are whole/);
    assert.equal((await verify("--known", "x")).code, 2);
    const database = openDatabase(join(server.dir, "data"));
    database.exec("UPDATE audit SET detail = replace(detail, 'metrics', 'events:read') WHERE number = 2");
    database.close();
    const broken = await verify();
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /^row 2 does not fit the row before it/m);
  });

  test("has its actions in the manual", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/audit.md"), "utf8");
    for (const [action, meaning] of Object.entries(AUDIT_ACTIONS))
      assert.ok(page.includes(`| \`${action}\` | ${meaning} |`), action);
  });
});
