import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { ask, deliver } from "../../helpers/client.ts";
import { authserve, type Command, EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { freePort } from "../../helpers/ports.ts";
import { type Server, type ServerOptions, startServer } from "../../helpers/server.ts";
import { startTarget } from "../../helpers/target.ts";
import { startTcpProxy } from "../../helpers/tcp-proxy.ts";
import { pairNamed } from "../../helpers/tls.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

/** A server, a program that gets events, and a laptop with a token. */
async function start(t: TestContext, options: ServerOptions = {}) {
  const server = await startServer(options);
  t.after(() => server[Symbol.asyncDispose]());
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const dir = workingDir();
  const created = await server.run(["tokens", "create", "laptop", "--scope", "listen"]);
  writeFileSync(join(dir, "token"), created.stdout);
  const env = { XDG_STATE_HOME: dir };
  const remote = (url = server.url) => ["--server", url, "--token-file", join(dir, "token")];

  async function listen(args: readonly string[], settings = {}, says = "Listening as"): Promise<Command> {
    const command = startProgram(EXECUTABLE, ["listen", ...args], { dir, env: { ...env, ...settings } });
    t.after(() => void command.child.kill("SIGKILL"));
    await until(() => command.stderr().includes(says));
    return command;
  }

  return {
    ...{ server, target, listen, remote, dir },
    here: () => server.env,
    received: () => target.received.map(({ headers }) => String(headers["x-event-id"])),
    refused: (args: readonly string[]) => authserve(["listen", ...args], { dir, env }),
  };
}

async function send(server: Server, ...ids: string[]): Promise<void> {
  for (const id of ids) assert.equal((await deliver(server, { id, type: "push", data: { text: "ñ" } })).status, 200);
}

suite("authserve listen", () => {
  test("misses no event and repeats none: it sleeps, its server and itself are killed, the network is lost", async (t) => {
    const PORT = String(await freePort());
    const { server, target, listen, remote, received } = await start(t, { env: { PORT } });
    const network = await startTcpProxy(t, server.port);
    const args = ["--forward", target.url, ...remote(`http://127.0.0.1:${network.port}`)];
    await send(server, "before");
    const first = await listen(args);
    await send(server, "a", "b");
    await until(() => received().length === 2);
    first.child.kill("SIGSTOP");
    await send(server, "asleep");
    first.child.kill("SIGCONT");
    await until(() => received().length === 3);
    network.cut();
    await send(server, "cut-off");
    network.mend();
    await until(() => received().length === 4);
    await server.kill();
    await until(() => first.stderr().includes("Waiting: "));
    const next = await startServer({ dir: server.dir, env: { PORT } });
    t.after(() => next[Symbol.asyncDispose]());
    await send(next, "restarted");
    await until(() => received().length === 5);
    await until(() => first.stdout().includes("restarted"));
    first.child.kill("SIGKILL");
    await first.exited;
    await send(next, "gone");
    await next.kill();
    const second = await listen(args, {}, "Waiting: ");
    const last = await startServer({ dir: server.dir, env: { PORT } });
    t.after(() => last[Symbol.asyncDispose]());
    await until(() => received().length === 6);
    assert.match(second.stderr(), /Listening again\..*1 event waits/s);
    second.child.kill("SIGINT");
    assert.deepEqual(await second.exited, { code: 0, signal: null });
    assert.deepEqual(received(), ["a", "b", "asleep", "cut-off", "restarted", "gone"]);
  });

  test("prints a line for each event on the machine of the store, with the filters", async (t) => {
    const { server, target, listen, here, received } = await start(t);
    target.answer((_, response) => void response.writeHead(500).end());
    await send(server, "old");
    const lines = await listen(["--forward", target.url, "--type", "push", "--since", "1h"], here());
    await deliver(server, { id: "other", type: "pull" });
    await send(server, "new");
    await until(() => received().length === 2 && lines.stdout().split("\n").length === 3);
    assert.match(
      lines.stdout(),
      /^20[-0-9]+T[:.0-9]+Z {2}default {2}push {2}old {2}500 {2}\d+ ms\n.* {2}new {2}500 {2}/,
    );
    const shown = await listen(["--print", "--json", "--from-start", "--name", "shown"], here());
    await until(() => shown.stdout().split("\n").length === 4);
    const [old, other] = shown
      .stdout()
      .split("\n")
      .map((line) => line && JSON.parse(line));
    assert.deepEqual([old.eventId, old.status, other.type], ["old", null, "pull"]);
    assert.match(old.payload, /"text":"ñ"/);
    const event = JSON.parse((await server.run(["events", "show", "old", "--json"])).stdout);
    assert.deepEqual([event.status, event.attempts], ["processed", 1]);
  });

  test("sends the bytes as they came, over TLS that nobody has certified", async (t) => {
    const dir = workingDir();
    const file =
      "sources: { raw: { verify: { type: token, header: x-token }, secrets: [env:RAW], contentTypes: ['*/*'] } }\n";
    writeFileSync(join(dir, "authserve.yaml"), file);
    const { server, listen, remote } = await start(t, { dir, env: { RAW: "a secret of the tests, long enough" } });
    const target = await startTarget(pairNamed("first"));
    t.after(() => target[Symbol.asyncDispose]());
    await listen(["--forward", target.url, ...remote()]);
    const body = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x22, 0x00, 0xff, 0x0d, 0x0a]);
    const headers = { "content-type": "application/octet-stream", "x-token": "a secret of the tests, long enough" };
    const { status } = await ask(server, "/webhook/raw", { method: "POST", body, headers });
    assert.equal(status, 200);
    await until(() => target.received.length === 1);
    assert.deepEqual(target.received[0]?.body, body);
  });

  test("ends when its database is replaced", async (t) => {
    const { server, target, listen, here } = await start(t);
    const command = await listen(["--forward", target.url], here());
    const backup = join(server.dir, "backup.db");
    await server.run(["backup", backup]);
    await server.stop();
    assert.equal((await server.run(["restore", backup])).code, 0);
    assert.equal((await command.exited).code, 1);
    assert.match(command.stderr(), /The database was replaced[\s\S]*start the listener again/);
  });

  test("ends when its token is revoked", async (t) => {
    const { server, target, listen, remote } = await start(t);
    const command = await listen(["--forward", target.url, ...remote()]);
    await server.run(["tokens", "revoke", "laptop"]);
    assert.equal((await command.exited).code, 1);
    assert.match(command.stderr(), /The server refuses the token/);
  });

  test("signs as routes do, if it has a secret without a provider", async (t) => {
    const { server, target, listen, here } = await start(t);
    const secret = join(workingDir(), "secret");
    writeFileSync(secret, "a secret of the laptop\n");
    await listen(["--forward", target.url, "--secret-file", secret], here());
    await send(server, "a");
    await until(() => target.received.length === 1);
    assert.match(String(target.received[0]?.headers["webhook-signature"]), /^v1,/);
  });

  test("refuses what would lose events or send them elsewhere, and says what to do", async (t) => {
    const { server, target, listen, remote, refused, here } = await start(t);
    const forward = ["--forward", target.url];
    for (const [args, message] of [
      [["--forward", "http://192.0.2.1/hook", ...remote()], /not on this machine[\s\S]*--allow-remote/],
      [remote(), /--forward is missing/],
      [["--forward", "ftp://localhost/hook", ...remote()], /--forward is not usable/],
      [[...forward, ...remote(), "--since", "1h", "--from-start"], /--since and --from-start/],
      [[...forward, ...remote(), "--name", "../x"], /--name is not usable/],
      [[...forward, ...remote(), "--sign-with", "stripe"], /--sign-with needs a secret/],
      [[...forward, ...remote(), "--route", "none"], /route is not configured/],
    ] as const) {
      const { code, stderr } = await refused(args);
      assert.ok(code === 2 || code === 1);
      assert.match(stderr, message);
    }
    await send(server, "a", "b");
    const backlog = await refused([...forward, ...remote(), "--from-start", "--max-backlog", "1"]);
    assert.equal(backlog.code, 1);
    assert.match(backlog.stderr, /More than 1 event wait[\s\S]*--max-backlog/);
    await listen([...forward, ...remote()]);
    const second = await refused([...forward, ...remote()]);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /Another listener has the name default[\s\S]*--name/);
    await listen([...forward, "--name", "other"], here());
    assert.equal(target.received.length, 0);
  });

  test("does not take the place of a listener to another store", async (t) => {
    const { server, target, listen, remote, here, dir } = await start(t);
    const command = await listen(["--forward", target.url, ...remote()]);
    command.child.kill("SIGTERM");
    assert.equal((await command.exited).code, 0);
    const local = startProgram(EXECUTABLE, ["listen", "--forward", target.url], {
      dir: server.dir,
      env: { ...here(), XDG_STATE_HOME: dir },
    });
    assert.equal((await local.exited).code, 2);
    assert.match(local.stderr(), /has listened to http[\s\S]*another --name/);
  });
});
