import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { OutageList, ReachableSource } from "../../src/admin/page/answers.ts";
import { ask, logIn, post } from "../helpers/client.ts";
import { authserve } from "../helpers/command.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { githubApi, stripeApi, stripeEvent, TOKEN } from "../helpers/stand-ins/providers.ts";
import { servedApi } from "../helpers/stand-ins/served.ts";
import { createDeliveryLog, type ProviderEvent } from "../helpers/stand-ins/stand-in.ts";
import { list, show } from "../helpers/stored-events.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

// A machine that stands still makes a restart a longer one.
const OF_RESTART = /^(restart|stopped)$/;
const SECRET = "a secret of the stand-ins, which sign with it";

/** Stand-ins for GitHub and Stripe that deliver to the server which runs; and its folder. */
async function open(t: TestContext, every: string) {
  const dir = workingDir();
  const current: { server: Server | null } = { server: null };

  /** Delivers as GitHub does. */
  async function deliver({ id, type, body }: ProviderEvent): Promise<boolean> {
    if (current.server === null) return false;
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const headers = { "x-github-delivery": id, "x-github-event": type, "x-hub-signature-256": `sha256=${signature}` };
    return (await post(current.server, "/webhook/code", body, headers)).status === 200;
  }

  const code = createDeliveryLog({ deliver, now: Date.now });
  const pay = createDeliveryLog({ deliver: () => false, now: Date.now });
  const apis: { code?: ReturnType<typeof githubApi>; pay?: ReturnType<typeof stripeApi> } = {};
  const codeOrigin = await servedApi(t, (request) => apis.code?.(request) as never);
  const payOrigin = await servedApi(t, (request) => apis.pay?.(request) as never);
  const hook = `${codeOrigin}/repos/o/r/hooks/1`;
  apis.code = githubApi(code, hook);
  apis.pay = stripeApi(pay, payOrigin);
  writeFileSync(
    join(dir, "authserve.yaml"),
    `sources:
  code: { preset: github, secrets: [env:SECRET], catchUp: { token: env:TOKEN, hook: "${hook}", host: "${codeOrigin}"${every} } }
  pay: { preset: stripe, secrets: [env:SECRET], catchUp: { token: env:TOKEN, host: "${payOrigin}", window: 30d } }
`,
  );
  let count = 0;
  return {
    pay,
    async start(): Promise<Server> {
      const server = await startServer({ dir, env: { SECRET, TOKEN } });
      current.server = server;
      return server;
    },
    async stop(): Promise<void> {
      await current.server?.stop();
      current.server = null;
    },
    emit: () => code.emit({ id: `guid-${++count}`, at: Date.now(), type: "push", body: `{"n":${count}}` }),
  };
}

test("what came while the server was away is stored after a catch-up by command, and shown with its outage", async (t) => {
  const { pay, start, stop, emit } = await open(t, "");
  await start();
  await emit();
  await stop();
  await emit();
  await emit();
  await using server = await start();
  const dry = await server.run(["sources", "catch-up", "code", "--dry-run", "--json"]);
  assert.deepEqual([dry.code, JSON.parse(dry.stdout).redelivered], [0, 2]);
  const { code, stdout, stderr } = await server.run(["sources", "catch-up", "code", "--json"]);
  assert.equal(code, 0, stderr);
  const nothing = { captured: 0, failed: 0, left: 0, refusal: null, error: null };
  assert.deepEqual(JSON.parse(stdout), { listed: 3, seen: 1, redelivered: 2, ...nothing });
  assert.deepEqual((await list(server)).map(({ eventId }) => eventId).sort(), ["guid-1", "guid-2", "guid-3"]);

  const [outage] = JSON.parse((await server.run(["outages", "--json"])).stdout);
  assert.match(outage.kind, OF_RESTART);
  const source = outage.sources.find(({ name }: { name: string }) => name === "code");
  assert.deepEqual([source.missed, source.atRisk], [2, false]);

  const at = Date.now() - 5 * 86_400_000;
  await pay.emit({ id: "evt_1", at, type: "invoice.paid", body: stripeEvent("evt_1", at, "invoice.paid") });
  const captured = await server.run(["sources", "catch-up", "pay", "--json"]);
  assert.equal(JSON.parse(captured.stdout).captured, 1, captured.stderr);
  const event = await until(async () => {
    const shown = (await show(server, "evt_1")) as unknown as Record<string, unknown>;
    return shown.status === "unrouted" ? shown : null;
  });
  assert.deepEqual([event.origin, event.jobs], ["api", []]);
  const verdict = { route: "default", unmet: "origin", expected: "delivery", found: "api" };
  assert.deepEqual(event.routes, [verdict]);
  const text = (await server.run(["events", "show", "evt_1"])).stdout;
  assert.match(text, /^origin +the API of the provider: nobody signed it$/m);
  assert.match(text, /origin is api, expected delivery/);
  for (const said of [server.stderr(), captured.stderr, stderr]) assert.ok(!said.includes(TOKEN));
});

test("the API of the page tells of the outage, begins a catch-up, and says what it has done", async (t) => {
  const { start, stop, emit } = await open(t, "");
  await start();
  await stop();
  await emit();
  await using server = await start();
  const headers = { Authorization: `Bearer ${await logIn(server)}` };
  const read = async () => (await ask(server, "/admin/api/outages", { headers })).json as unknown as OutageList;
  const sourceNamed = async (wanted: string) => (await read()).sources.find(({ name }) => name === wanted);
  assert.match(String((await read()).items[0]?.kind), OF_RESTART);
  const pick = ({ provider, resends, catchUp, last }: ReachableSource) => [provider, resends, catchUp, last];
  assert.deepEqual(pick((await sourceNamed("code")) as never), ["GitHub", "manual", "configured", null]);

  const begin = (source: string) => post(server, "/admin/api/sources/catch-up", { source }, headers);
  assert.equal((await begin("unknown")).status, 400);
  assert.deepEqual((await begin("code")).json, { started: true });
  const last = await until(async () => (await sourceNamed("code"))?.last ?? null);
  assert.deepEqual(last, { listed: 1, seen: 0, redelivered: 1, captured: 0, failed: 0, left: 0 });
  await until(async () => (await list(server)).length === 1);
});

test("a command on another machine begins a catch-up, also of what came before the last run", async (t) => {
  const { start, stop, emit } = await open(t, "");
  await start();
  await stop();
  await emit();
  await using server = await start();
  const dir = workingDir();
  writeFileSync(join(dir, "token"), (await server.run(["tokens", "create", "x", "--scope", "events:write"])).stdout);
  const there = ["--server", server.url, "--token-file", "token"];
  const catchUp = (...args: string[]) =>
    authserve(["sources", "catch-up", "code", ...args, ...there], { dir, env: {} });
  assert.deepEqual([(await catchUp("--dry-run")).code, (await catchUp("--since", "x")).code], [2, 2]);
  const { code, stdout, stderr } = await catchUp("--since", "1h", "--all");
  assert.deepEqual([code, stdout], [0, ""], stderr);
  assert.match(stderr, /^The server gets what code has missed\./);
  await until(async () => (await list(server)).length === 1);
});

test("a source that has every catches up soon after the start", async (t) => {
  const { start, stop, emit } = await open(t, ", every: 1h");
  await start();
  await stop();
  await emit();
  await using server = await start();
  const line = await server.logged("catch_up_done");
  assert.deepEqual([line.source, line.redelivered], ["code", 1]);
  await until(async () => (await list(server)).length === 1);
});
