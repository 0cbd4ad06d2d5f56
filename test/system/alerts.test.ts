import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { needsMount } from "../helpers/back-end.ts";
import { ask } from "../helpers/client.ts";
import { EXECUTABLE } from "../helpers/command.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { fill, mountSmallDisk } from "../helpers/small-disk.ts";
import { type ForwardTarget, startTarget } from "../helpers/target.ts";
import { pairNamed, use } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRETS = { NEW: "the new secret of the tests", OLD: "the old secret of the tests" };

interface SentAlert {
  status: "firing" | "resolved";
  labels: Record<string, string>;
}

/** The messages that a target has received, as `name status`, in order. */
const sentTo = ({ received }: ForwardTarget) =>
  received.flatMap(({ body }) =>
    (JSON.parse(body.toString()) as { alerts: SentAlert[] }).alerts.map(
      ({ status, labels }) => `${labels.alertname} ${status}`,
    ),
  );

/** Waits until a message about an alert has arrived. Alerts are checked every 5 seconds. */
const arrived = (target: ForwardTarget, message: string) => until(() => sentTo(target).includes(message));

async function openTarget(t: TestContext): Promise<ForwardTarget> {
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  return target;
}

async function openServer(t: TestContext, yaml: string, env: Record<string, string> = {}): Promise<Server> {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), yaml);
  const server = await startServer({ dir, env: { ...SECRETS, ...env } });
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

let last = 0;

async function deliverTo(server: Server, source: string, secret: string): Promise<void> {
  const body = JSON.stringify({ id: `evt_${++last}`, type: "order.paid" });
  const headers = { "Content-Type": "application/json", "X-Sig": signature(body, secret).slice("sha256=".length) };
  const { status } = await ask(server, `/webhook/${source}`, { method: "POST", body, headers });
  assert.equal(status, 200);
}

/** Delivers ten times in a second until a message about an alert has arrived. */
async function deliverUntil(server: Server, source: string, secret: string, alerts: ForwardTarget, message: string) {
  await until(async () => {
    await deliverTo(server, source, secret);
    await delay(100);
    return sentTo(alerts).includes(message);
  });
}

suite("alerts", { concurrency: true }, () => {
  test("each alert is sent when it fires and when it is resolved", async (t) => {
    const [alerts, target, slow] = [await openTarget(t), await openTarget(t), await openTarget(t)];
    const refuse = { now: true };
    target.answer((_, response) => void response.writeHead(refuse.now ? 500 : 204).end());
    const { promise: slowAnswers, resolve: answerAll } = Promise.withResolvers<void>();
    slow.answer(async (_, response) => {
      await slowAnswers;
      response.writeHead(204).end();
    });
    const source = "verify: { header: x-sig }, secrets: [env:NEW, env:OLD]";
    const file = (diskBelow: string) => `sources:
  shop: { ${source} }
  quiet: { ${source}, expectEvery: 1s }
  new: { ${source}, expectEvery: 1s }
routes:
  - { name: all, source: shop, to: ${target.url}, retry: { delays: [1ms] } }
  - { name: waiting, source: shop, http: { url: "${slow.url}", timeout: 10m } }
alerts:
  notify: [{ webhook: ${alerts.url} }]
  failureRate: { above: 0.5, over: 3s, atLeast: 3 }
  queue: { olderThan: 1s, growingFor: 5s }
  deadLetters: { above: 0 }
  disk: { below: ${diskBelow} }
  oldSecret: { after: 1s }
`;
    const server = await openServer(t, file("900000g"));
    await deliverTo(server, "quiet", SECRETS.NEW);
    for (const name of ["QueueGrowing", "FailureRate"])
      await deliverUntil(server, "shop", SECRETS.OLD, alerts, `Authserve${name} firing`);
    const names = ["FailureRate", "QueueOld", "DeadLetters", "DiskLow", "OldSecret", "SourceSilent"];
    for (const name of names) await arrived(alerts, `Authserve${name} firing`);

    refuse.now = false;
    writeFileSync(join(server.dir, "authserve.yaml"), file("0"));
    await server.logged("config_reloaded");
    answerAll();
    await server.run(["events", "replay", "--dead-letter"]);
    await deliverUntil(server, "shop", SECRETS.NEW, alerts, "AuthserveOldSecret resolved");
    await deliverUntil(server, "quiet", SECRETS.NEW, alerts, "AuthserveSourceSilent resolved");
    for (const name of [...names, "QueueGrowing"]) await arrived(alerts, `Authserve${name} resolved`);
    const silent = alerts.received.flatMap(
      ({ body }) => (JSON.parse(body.toString()) as { alerts: SentAlert[] }).alerts,
    );
    const silentSources = silent.flatMap(({ labels }) =>
      labels.alertname === "AuthserveSourceSilent" ? labels.source : [],
    );
    assert.deepEqual([...new Set(silentSources)], ["quiet"], "a source that has never received anything is new");
  });

  test("a full disk is told while nothing can be saved, once, and so is its end", needsMount(), async (t) => {
    const alerts = await openTarget(t);
    const dir = workingDir();
    mountSmallDisk(t, join(dir, "data"));
    writeFileSync(
      join(dir, "authserve.yaml"),
      `sources:
  shop: { verify: { header: x-sig }, secrets: [env:NEW] }
alerts:
  notify: [{ webhook: ${alerts.url} }]
  disk: off
`,
    );
    const server = await startServer({ dir, env: { ...SECRETS, MIN_FREE_DISK: "0" } });
    t.after(() => server[Symbol.asyncDispose]());
    await deliverTo(server, "shop", SECRETS.NEW);
    fill(join(dir, "data", "filler"));
    const body = JSON.stringify({ id: "evt_large", type: "order.paid", pad: "x".repeat(200_000) });
    const headers = {
      "Content-Type": "application/json",
      "X-Sig": signature(body, SECRETS.NEW).slice("sha256=".length),
    };
    const { status } = await ask(server, "/webhook/shop", { method: "POST", body, headers });
    assert.equal(status, 503);
    const names = ["NotReady", "DeliveriesRefused", "StoreRefusesWrites"];
    for (const name of names) await arrived(alerts, `Authserve${name} firing`);

    rmSync(join(dir, "data", "filler"));
    await deliverUntil(server, "shop", SECRETS.NEW, alerts, "AuthserveNotReady resolved");
    for (const name of names) await until(() => sentTo(alerts).includes(`Authserve${name} resolved`), 90_000);
    const sent = sentTo(alerts);
    assert.equal(sent.length, new Set(sent).size, sent.join(", "));
    const { code, stdout } = await server.run(["alerts", "list", "--all", "--json"]);
    assert.equal(code, 0);
    assert.match(stdout, /AuthserveNotReady/);
  });

  test("a firing alert outlives a kill, is sent until it arrives, once, and before its end", async (t) => {
    const alerts = await openTarget(t);
    const isDown = { now: true };
    alerts.answer((_, response) => void response.writeHead(isDown.now ? 503 : 200).end());
    const yaml = `sources:
  shop: { verify: { header: x-sig }, secrets: [env:NEW] }
routes:
  - { name: all, exec: { command: ["false"] }, retry: { attempts: 1 } }
alerts:
  notify: [{ name: pager, webhook: ${alerts.url} }]
  failureRate: off
`;
    const first = await openServer(t, yaml);
    await deliverTo(first, "shop", SECRETS.NEW);
    const failure = await first.logged("alert_not_sent");
    assert.equal(failure.notifier, "pager");
    await first.kill();
    const tries = alerts.received.length;

    isDown.now = false;
    const second = await startServer({ dir: first.dir, env: SECRETS });
    t.after(() => second[Symbol.asyncDispose]());
    await until(() => alerts.received.length > tries);
    await second.run(["events", "discard", "--dead-letter", "--reason", "done"]);
    await arrived(alerts, "AuthserveDeadLetters resolved");
    const sent = sentTo(alerts).slice(tries);
    assert.deepEqual(sent, ["AuthserveDeadLetters firing", "AuthserveDeadLetters resolved"]);
    assert.deepEqual(second.log("alert_firing"), []);
  });

  test("nearly all descriptors in use fire before no connection can be accepted", async (t) => {
    const dir = workingDir();
    const program = join(dir, "limited");
    writeFileSync(program, `#!/bin/sh\nulimit -n 100\nexec ${EXECUTABLE} "$@"\n`, { mode: 0o755 });
    // A client that sends nothing is let go after some seconds.
    const CONFIG_FILE = join(dir, "alerts.yaml");
    writeFileSync(CONFIG_FILE, "alerts: { notReady: { after: 1s } }\n");
    const server = await startServer({ dir, program, env: { CONFIG_FILE } });
    t.after(() => server[Symbol.asyncDispose]());
    const opened = readdirSync(`/proc/${server.pid}/fd`).length;
    const clients = Array.from({ length: 94 - opened }, () => connect(server.port, "127.0.0.1"));
    t.after(() => clients.forEach((client) => void client.destroy()));
    const { labels, message } = await server.logged("alert_firing");
    assert.deepEqual(labels, { part: "descriptors" });
    assert.match(message, /9\d of 100 descriptors are open/);
    assert.equal((await ask(server, "/healthz")).status, 200);
  });

  test("a certificate near its end fires until another one is in use", async (t) => {
    const alerts = await openTarget(t);
    const dir = workingDir();
    const files = { cert: join(dir, "in-use.crt"), key: join(dir, "in-use.key") };
    use(files, pairNamed("ending"));
    const yaml = `alerts: { notify: [{ webhook: ${alerts.url} }] }\n`;
    await openServer(t, yaml, { TLS_CERT_FILE: files.cert, TLS_KEY_FILE: files.key });
    await arrived(alerts, "AuthserveCertificateExpiring firing");
    use(files, pairNamed("first"));
    await arrived(alerts, "AuthserveCertificateExpiring resolved");
  });
});
