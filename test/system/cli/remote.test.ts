import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite, test } from "node:test";
import { newToken } from "../../../src/auth/machine-tokens/form.ts";
import { startAdmin } from "../../contract/admin-api.ts";
import { deliver, event } from "../../helpers/client.ts";
import { authserve, EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { pairNamed } from "../../helpers/tls.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

type Get = Awaited<ReturnType<typeof startAdmin>>["get"];

/** How many events are in each status. */
async function counts(get: Get): Promise<Record<string, number>> {
  return (await get("status")).json.events as Record<string, number>;
}

suite("a command with --server", { concurrency: 3 }, () => {
  test("prints the same as on the machine of the server", async (t) => {
    const { server, get } = await startAdmin(t);
    for (let n = 0; n < 3; n++) await deliver(server, event(`evt_${n}`, { text: "ñ" }));
    await deliver(server, { id: "evt_refused", type: "order.refused" });
    await deliver(server, event("evt_0", { other: "bytes" }));
    await until(async () => (await counts(get)).queued === 0);
    await until(async () => (await get("alerts")).text.includes("DeadLetters"));
    assert.equal((await server.run(["alerts", "silence", "--for", "2h", "--reason", "a test"])).code, 0);
    const dir = workingDir();
    const created = await server.run(["tokens", "create", "laptop", "--scope", "events:read"]);
    writeFileSync(join(dir, "token"), created.stdout);
    const [from, to] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString()) as [string, string];
    const since = ["--since", from, "--until", to];
    for (const command of [
      ["events", "list", "--utc"],
      ["events", "list", "--utc", "--limit", "2"],
      ["events", "list", "--utc", "--type", "order.refused", ...since],
      ["events", "list", "--utc", "--search", "ñ"],
      ["events", "show", "evt_0", "--utc"],
      ["events", "show", "evt_refused", "--utc"],
      ["events", "show", "evt_ref", "--utc"],
      ["events", "show", "evt_", "--utc"],
      ["events", "list", "--source", "unknown"],
      ["routes", "list"],
      ["routes", "shadow"],
      ["outages", "--since", "1d"],
      ["sources", "list", "--utc"],
      ["session", "show"],
      ["people", "list", "--utc"],
      ["alerts", "list", "--all", "--utc"],
    ]) {
      const compare = async (args: string[]) => {
        const remote = [...args, "--server", server.url, "--token-file", "token"];
        const [here, there] = await Promise.all([server.run(args), authserve(remote, { dir, env: {} })]);
        assert.deepEqual([there.code, there.stdout], [here.code, here.stdout], `${args.join(" ")}: ${there.stderr}`);
        if (args[0] === "alerts") assert.equal(there.stderr, here.stderr);
      };
      await Promise.all([compare(command), compare([...command, "--json"])]);
    }
    const stats = ["events", "stats", "--json", ...since, "--step", "minute"];
    const there = await authserve([...stats, "--server", server.url, "--token-file", "token"], { dir, env: {} });
    assert.equal(there.code, 0, there.stderr);
    assert.deepEqual(JSON.parse(there.stdout), JSON.parse((await server.run(stats)).stdout));
  });

  test("says why an event waits", async (t) => {
    const { server } = await startAdmin(t);
    assert.equal((await server.run(["routes", "pause", "all", "--for", "2h"])).code, 0);
    await deliver(server, event("evt_waiting"));
    await until(async () => (await server.run(["events", "show", "evt_waiting"])).stdout.includes("waits"));
    const dir = workingDir();
    writeFileSync(
      join(dir, "token"),
      (await server.run(["tokens", "create", "laptop", "--scope", "events:read"])).stdout,
    );
    for (const args of [
      ["events", "show", "evt_waiting", "--utc"],
      ["events", "show", "evt_waiting", "--json"],
      ["routes", "list", "--utc"],
      ["routes", "list", "--json"],
    ]) {
      const here = await server.run(args);
      const there = await authserve([...args, "--server", server.url, "--token-file", "token"], { dir, env: {} });
      assert.deepEqual([there.code, there.stdout, there.stderr], [here.code, here.stdout, here.stderr], args.join(" "));
      assert.match(here.stdout + here.stderr, /paused.*(ends|[uU]ntil)/s);
    }
  });

  test("erases events by id or by a filter, with a token that may only erase, and prints the receipt", async (t) => {
    const { server } = await startAdmin(t);
    for (let n = 0; n < 5; n++) await deliver(server, event(`evt_${n}`, { email: n < 3 ? "maria" : 'O"Neil' }));
    const dir = workingDir();
    const created = await server.run(["tokens", "create", "laptop", "--scope", "events:erase"]);
    writeFileSync(join(dir, "token"), created.stdout);
    const erase = async (...args: string[]) => {
      const there = ["--reason", "asked for", "--server", server.url, "--token-file", "token"];
      const { code, stdout, stderr } = await authserve(["events", "erase", ...args, ...there], { dir, env: {} });
      return { code, stderr, receipt: args.includes("--json") ? JSON.parse(stdout) : stdout };
    };
    const idsOf = ({ receipt }: { receipt: { events: { eventId: string }[] } }) =>
      receipt.events.map(({ eventId }) => eventId).sort();
    const dry = await erase("--search", "maria", "--dry-run", "--json");
    assert.deepEqual([dry.code, dry.receipt.dryRun, idsOf(dry)], [0, true, ["evt_0", "evt_1", "evt_2"]], dry.stderr);
    const byId = await erase("evt_0", "evt_none", "--json");
    assert.deepEqual([byId.code, idsOf(byId)], [1, ["evt_0"]]);
    assert.deepEqual(byId.receipt.refused, [{ eventId: "evt_none", reason: "there is no such event" }]);
    const here = await server.run(["events", "erase", "evt_1", "--reason", "asked for", "--json"]);
    assert.deepEqual(Object.keys(byId.receipt), Object.keys(JSON.parse(here.stdout)));
    assert.deepEqual(Object.keys(byId.receipt.events[0]), Object.keys(JSON.parse(here.stdout).events[0]));
    const found = await erase("--search", "maria");
    assert.match(found.receipt, /^evt_2 of default, sha256 [0-9a-f]{64}, received .*Z, erased .*Z$/m);
    assert.match(found.stderr, /^Erased 1 event and 0 held deliveries\.$/m);
    const rows = JSON.parse((await server.run(["audit", "list", "--json"])).stdout) as {
      who: string;
      action: string;
    }[];
    assert.equal(rows.filter(({ who, action }) => who === "token:laptop" && action === "events.erase").length, 2);
    // JSON has the quote with a backslash before it.
    const escaped = ["--search", 'O"Neil'];
    assert.deepEqual(idsOf(await erase(...escaped, "--dry-run", "--json")), ["evt_3", "evt_4"]);
    const { stdout } = await server.run(["events", "erase", ...escaped, "--reason", "asked for", "--json"]);
    assert.deepEqual(idsOf({ receipt: JSON.parse(stdout) }), ["evt_3", "evt_4"]);
  });

  test("changes the same, and says the same", async (t) => {
    const dir = workingDir();
    /** A server with failed and refused deliveries. `run` runs a command there, or asks it over its API. */
    async function start(isRemote: boolean) {
      const { server, get } = await startAdmin(t);
      for (const id of ["evt_a", "evt_b", "evt_c", "evt_d"]) await deliver(server, { id, type: "order.refused" });
      await deliver(server, event("evt_done"));
      await deliver(server, event("evt_done", { other: "bytes" }));
      const isSettled = async () => {
        const { failed, processed } = await counts(get);
        return failed === 4 && processed === 1;
      };
      await until(isSettled);
      const token = `token-${isRemote}`;
      const scopes = ["--scope", "events:read", "events:write"];
      writeFileSync(join(dir, token), (await server.run(["tokens", "create", "laptop", ...scopes])).stdout);
      const there = ["--server", server.url, "--token-file", token];
      const run = (args: string[]) => (isRemote ? authserve([...args, ...there], { dir, env: {} }) : server.run(args));
      const audited = async (action: string) => {
        const rows = JSON.parse((await server.run(["audit", "list", "--json"])).stdout) as { action: string }[];
        return rows.filter((row) => row.action === action).length;
      };
      return { run, isSettled, audited };
    }
    const [here, there] = await Promise.all([start(false), start(true)]);
    for (const command of [
      ["routes", "pause", "all"],
      ["routes", "pause", "all"],
      ["routes", "resume", "all"],
      ["routes", "resume", "all"],
      ["routes", "try", "all"],
      ["routes", "pause", "al"],
      ["events", "replay", "--dead-letter", "--dry-run"],
      ["events", "replay", "--dead-letter", "--since", "1h", "--dry-run", "--json"],
      ["events", "replay", "evt_a", "evt_done", "none"],
      ["events", "replay", "evt_do", "--force", "--transform"],
      ["events", "replay", "--type", "order.refused", "--rate", "50/s"],
      ["events", "replay", "--route", "other"],
      ["events", "replay"],
      ["events", "discard", "evt_a", "evt_done", "--reason", "a test", "--json"],
      ["events", "discard", "--dead-letter", "--reason", "a test", "--dry-run"],
      ["events", "discard", "--dead-letter", "--reason", "a test"],
      ["events", "reverify", "--source", "default", "--dry-run"],
    ]) {
      const [a, b] = await Promise.all([here.run(command), there.run(command)]);
      assert.deepEqual([b.code, b.stdout, b.stderr], [a.code, a.stdout, a.stderr], command.join(" "));
      if (command.includes("evt_a") && command[1] === "replay")
        assert.deepEqual([await here.audited("events.replay"), await there.audited("events.replay")], [1, 1]);
      if (command[1] === "replay") await Promise.all([here, there].map(({ isSettled }) => until(isSettled)));
    }
    for (const command of [
      ["events", "replay", "evt_do", "--conflict", "2"],
      ["events", "replay", "evt_do", "--conflict", "1"],
      ["events", "replay", "evt_do", "--conflict", "1"],
      ["events", "replay", "none", "--conflict", "1"],
      ["events", "prune", "--dry-run"],
      ["events", "prune", "--json"],
    ]) {
      const [a, b] = await Promise.all([here.run(command), there.run(command)]);
      assert.deepEqual([b.code, b.stdout, b.stderr], [a.code, a.stdout, a.stderr], command.join(" "));
    }
  });

  test("lists and revokes tokens, and reads the audit, with a token that may manage", async (t) => {
    const { server } = await startAdmin(t);
    const dir = workingDir();
    const created = await server.run(["tokens", "create", "laptop", "--scope", "manage"]);
    writeFileSync(join(dir, "token"), created.stdout);
    for (const name of ["a", "b"]) await server.run(["tokens", "create", name, "--scope", "metrics"]);
    const there = (...args: string[]) =>
      authserve([...args, "--server", server.url, "--token-file", "token"], { dir, env: {} });
    const known = String(/[0-9]+:[0-9a-f]{64}:\S+/.exec((await server.run(["audit", "verify"])).stderr)?.[0]);
    const revoked = await there("tokens", "revoke", "a", "--json");
    assert.deepEqual([revoked.code, JSON.parse(revoked.stdout)], [0, { revoked: ["a"] }]);
    const unknown = await there("tokens", "revoke", "a", "b");
    assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
    assert.match(unknown.stderr, /token_revoked.*"b".*There is no token a/s);
    for (const command of [
      ["tokens", "list", "--utc"],
      ["tokens", "list", "--json"],
      ["audit", "list", "--utc"],
      ["audit", "list", "--all", "--json"],
      ["audit", "list", "--limit", "3", "--json"],
      ["audit", "verify"],
      ["audit", "verify", "--json"],
      ["audit", "verify", "--known", known],
      ["audit", "verify", "--known", known.replace(/:[0-9a-f]{64}/, `:${"0".repeat(64)}`)],
    ]) {
      const remote = await there(...command);
      const here = await server.run(command);
      assert.deepEqual([remote.code, remote.stdout], [here.code, here.stdout], command.join(" ") + remote.stderr);
      assert.equal(remote.stderr, here.stderr);
    }
    const sent = "POST /webhook/shop HTTP/1.1\r\nHost: example.com\r\nContent-Length: 2\r\n\r\n{}";
    const explain = (input: string | Buffer, ...args: string[]) =>
      authserve(["sources", "explain", "shop", ...args], { dir: server.dir, env: server.env, input });
    const options = ["--json", "--at", new Date().toISOString()];
    const explained = await explain(sent, ...options, "--server", server.url, "--token-file", join(dir, "token"));
    const here = await explain(sent, ...options);
    assert.deepEqual([explained.code, explained.stdout], [here.code, here.stdout], explained.stderr);
    const binary = Buffer.concat([Buffer.from(sent), Buffer.of(255)]);
    const refused = await explain(binary, "--server", server.url, "--token-file", join(dir, "token"));
    assert.deepEqual([refused.code, refused.stdout], [2, ""]);
    assert.match(refused.stderr, /has bytes that are not UTF-8/);
    const session = await there("session", "show");
    assert.deepEqual([session.code, session.stdout], [1, ""]);
    assert.match(session.stderr, /create one with --scope events:read/);
  });

  test("follows events that arrive", async (t) => {
    const { server } = await startAdmin(t);
    await deliver(server, event("evt_before"));
    const dir = workingDir();
    writeFileSync(
      join(dir, "token"),
      (await server.run(["tokens", "create", "laptop", "--scope", "events:read"])).stdout,
    );
    const args = ["events", "list", "--follow", "--json", "--server", server.url, "--token-file", "token"];
    const { child, stdout } = startProgram(EXECUTABLE, args, { dir, env: {} });
    t.after(() => void child.kill());
    await until(() => stdout().includes("evt_before"));
    const ids = Array.from({ length: 12 }, (_, n) => `evt_${n}`);
    for (const id of ids) await deliver(server, event(id));
    await until(() => stdout().includes("evt_11"));
    const printed = stdout().trim().split("\n");
    assert.deepEqual(
      printed.map((line) => JSON.parse(line).eventId),
      ["evt_before", ...ids],
    );
  });

  test("tells what is wrong, and never shows the token", async (t) => {
    const { server } = await startAdmin(t);
    const dir = workingDir();
    const token = newToken();
    writeFileSync(join(dir, "token"), token);
    writeFileSync(join(dir, "other"), "not a token");
    const run = async (url: string, file: string, ...args: string[]) => {
      const all = ["events", "list", "--server", url, "--token-file", file, ...args];
      const { code, stdout, stderr } = await authserve(all, { dir, env: {} });
      assert.equal(stdout, "");
      assert.ok(!stderr.includes(token));
      return [code, stderr];
    };
    const expect = async ([code, text]: unknown[], wanted: number, pattern: RegExp) => {
      assert.match(String(text), pattern);
      assert.equal(code, wanted);
    };
    await expect(await run(server.url, "token"), 1, /The server refuses the token/);
    await expect(await run(server.url, "none"), 2, /none cannot be read \(ENOENT\)/);
    await expect(await run(server.url, "other"), 2, /other has no token/);
    await expect(await run("http://auth.example.com", "token"), 2, /--server has no TLS/);
    await expect(await run("auth.example.com", "token"), 2, /--server is not usable/);
    await expect(await run("http://127.0.0.1:1", "token"), 1, /127\.0\.0\.1:1 does not answer/);
    await expect(await run(`${server.url}/admin`, "token"), 1, /answered not_found.*\n.*give the server's PUBLIC_URL/);
    const website = createServer((_, response) => void response.end("<html>"));
    await once(website.listen(0, "127.0.0.1"), "listening");
    t.after(() => void website.close());
    const address = `http://127.0.0.1:${(website.address() as AddressInfo).port}`;
    await expect(await run(address, "token"), 1, /is not an authserve: its answer is not JSON\n.*PUBLIC_URL/);
    const { stdout } = await server.run(["tokens", "create", "metrics", "--scope", "metrics"]);
    writeFileSync(join(dir, "token"), stdout);
    await expect(await run(server.url, "token"), 1, /lacks the scope for this\n.*create one with --scope events:read/);
    assert.equal((await authserve(["events", "list", "--server", server.url], { dir, env: {} })).code, 2);
  });

  test("works over HTTPS once its authority is trusted, and tells how", async (t) => {
    const { server } = await startAdmin(t);
    const { cert, key } = pairNamed("first");
    const proxy = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, (asked, answer) => {
      const { url = "", headers } = asked;
      get(server.url + url, { headers }, (given) => given.pipe(answer.writeHead(given.statusCode ?? 0)));
    });
    await once(proxy.listen(0, "127.0.0.1"), "listening");
    t.after(() => void proxy.close());
    const url = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const dir = workingDir();
    const { stdout } = await server.run(["tokens", "create", "laptop", "--scope", "events:read"]);
    writeFileSync(join(dir, "token"), stdout);
    const args = ["events", "list", "--server", url, "--token-file", "token"];
    const { code, stderr } = await authserve(args, { dir, env: {} });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /the certificate of https:.* is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT.*NODE_EXTRA_CA_CERTS/s,
    );
    assert.equal((await authserve(args, { dir, env: { NODE_EXTRA_CA_CERTS: cert } })).code, 0);
  });

  test("follows no redirect, which could take the token elsewhere", async (t) => {
    const seen: (string | undefined)[] = [];
    const thief = createServer(({ headers }, response) => {
      seen.push(headers.authorization);
      response.end("{}");
    });
    const port = async (server: typeof thief) => {
      await once(server.listen(0, "127.0.0.1"), "listening");
      t.after(() => void server.close());
      return (server.address() as AddressInfo).port;
    };
    const target = `http://127.0.0.1:${await port(thief)}/`;
    const url = `http://127.0.0.1:${await port(createServer((_, response) => void response.writeHead(302, { Location: target }).end()))}`;
    const dir = workingDir();
    writeFileSync(join(dir, "token"), newToken());
    const args = ["events", "list", "--server", url, "--token-file", "token"];
    assert.equal((await authserve(args, { dir, env: {} })).code, 1);
    assert.deepEqual(seen, []);
  });
});
