import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import type { AlertRecord, Silence } from "../../../src/alerts/alert.ts";
import type { AlertStore } from "../../../src/alerts/store.ts";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { alertChanges, alertRecord } from "../../contract/alert-store.ts";
import { authserve } from "../../helpers/command.ts";
import { startDiscord, startGotify, startTelegram } from "../../helpers/stand-ins/chat-apis.ts";
import { startSmtpServer } from "../../helpers/stand-ins/smtp-server.ts";
import { type ForwardTarget, startTarget } from "../../helpers/target.ts";
import { pairNamed } from "../../helpers/tls.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const HOUR = 3_600_000;
const TIME = String.raw`\d{4}-\d\d-\d\dT[0-9:.]+Z`;

const NOW = Date.now();
const SILENT = alertRecord({ since: NOW - 2 * HOUR, firedAt: NOW - 2 * HOUR });
const WAITING = alertRecord({
  id: "b2",
  name: "AuthserveOldSecret",
  labels: { source: "shop", secret: "env:OLD" },
  summary: "the sender of shop still signs with the old secret env:OLD only",
  since: NOW - HOUR,
  firedAt: null,
});
const OVER = alertRecord({
  id: "c3",
  name: "AuthserveDiskLow",
  labels: {},
  summary: "1 GiB are free on the disk of DATA_DIR",
  since: NOW - 3 * HOUR,
  firedAt: NOW - 3 * HOUR,
  resolvedAt: NOW - HOUR,
});

/** A data directory without a server, and its alerts. */
async function open(alerts: AlertRecord[] = [], silences: Silence[] = []) {
  const dir = workingDir();
  const env = { DATA_DIR: join(dir, "data") };
  /** Uses the alert store between two commands. */
  async function inStore<T>(use: (store: AlertStore) => Promise<T>): Promise<T> {
    const database = openDatabase(env.DATA_DIR);
    try {
      return await use(localStores(database).alerts);
    } finally {
      database.close();
    }
  }
  await inStore(async (store) => {
    await store.save(alertChanges({ changed: alerts }));
    for (const silence of silences) await store.addSilence(silence, NOW);
  });
  return {
    run: (...args: string[]) => authserve(["alerts", ...args], { dir, env }),
    silences: () => inStore(async (store) => (await store.read()).silences),
  };
}

suite("alerts list", { concurrency: 2 }, () => {
  test("says that no alert fires", async () => {
    const { run } = await open([OVER]);
    const { code, stdout, stderr } = await run("list");
    assert.deepEqual([code, stdout, stderr], [0, "", "No alert fires.\n"]);
    assert.equal((await run("list", "--json")).stdout, "[]\n");
  });

  test("shows the alerts that fire, and then those that wait", async () => {
    const { run } = await open([WAITING, OVER, SILENT]);
    const { code, stdout, stderr } = await run("list");
    assert.deepEqual([code, stderr], [0, ""]);
    const [heading, ...lines] = stdout.trimEnd().split("\n");
    assert.match(heading ?? "", /^ALERT +STATE +SEVERITY +SINCE$/);
    for (const expected of [
      /^AuthserveSourceSilent +firing +warning +2 h ago$/,
      /^ {2}the source stripe has received nothing/,
      /^AuthserveOldSecret +pending +info +1 h ago$/,
      /^ {2}the sender of shop still signs/,
    ]) {
      assert.match(lines.shift() ?? "", expected);
    }
    assert.deepEqual(lines, []);
    assert.match((await run("list", "--utc")).stdout, new RegExp(`firing +warning +${TIME}\\n`));
  });

  test("shows with --all also those that are resolved", async () => {
    const { run } = await open([SILENT, OVER]);
    const { stdout } = await run("list", "--all");
    assert.match(
      stdout,
      /\nAuthserveSourceSilent +firing .*\n.*\nAuthserveDiskLow +resolved +critical +3 h ago\n {2}1 GiB .*\n$/,
    );
  });

  test("prints JSON with every member", async () => {
    const { run } = await open([SILENT, OVER]);
    const listed = JSON.parse((await run("list", "--all", "--json")).stdout);
    const { id, name, labels, summary, remedy, since } = SILENT;
    assert.deepEqual(listed[0], {
      id,
      name,
      title: "A sender is silent",
      state: "firing",
      severity: "warning",
      labels,
      summary,
      remedy,
      view: "#/sources",
      since: new Date(since).toISOString(),
      startsAt: new Date(since).toISOString(),
      endsAt: null,
      silencedUntil: null,
      told: null,
    });
    assert.deepEqual([listed[1].state, listed[1].endsAt], ["resolved", new Date(NOW - HOUR).toISOString()]);
    assert.equal(JSON.parse((await run("list", "--json")).stdout).length, 1);
  });

  test("marks silenced alerts, and shows the silences on standard error", async () => {
    const until = NOW + 3 * HOUR;
    const { run } = await open(
      [SILENT, WAITING],
      [
        { id: "s1", name: SILENT.name, labels: { source: "stripe" }, reason: "they know", until },
        { id: "s2", name: "AuthserveDiskLow", labels: {}, reason: null, until },
      ],
    );
    const { stdout, stderr } = await run("list");
    assert.match(stdout, /\nAuthserveSourceSilent +firing, silenced .*\n.*\nAuthserveOldSecret +pending +info/);
    assert.match(stderr, /^AuthserveSourceSilent source=stripe is silenced.* in 2 h: they know\.$/m);
    assert.match(stderr, /^AuthserveDiskLow is silenced.* in 2 h\.$/m);
    const [listed] = JSON.parse((await run("list", "--json")).stdout);
    assert.equal(listed.silencedUntil, new Date(until).toISOString());
  });
});

suite("alerts silence", { concurrency: 2 }, () => {
  test("silences every alert for an hour", async () => {
    const { run, silences } = await open();
    const { code, stdout, stderr } = await run("silence");
    assert.deepEqual([code, stdout], [0, ""]);
    assert.match(stderr, new RegExp(`^Every alert is silenced until ${TIME}\\.\n$`));
    const [silence] = await silences();
    assert.deepEqual([silence?.name, silence?.labels, silence?.reason], [null, {}, null]);
    assert.ok(Math.abs((silence?.until ?? 0) - Date.now() - HOUR) < 60_000);
  });

  test("silences one alert, also without the prefix of its name, by label, for a time and a reason", async () => {
    const { run, silences } = await open();
    const labels = ["--label", "source=stripe", "secret=env:A=B"];
    const more = ["--for", "2d", "--reason", "they know", "--json"];
    const { code, stdout, stderr } = await run("silence", "OldSecret", ...labels, ...more);
    assert.deepEqual([code, stderr], [0, ""]);
    const [silence] = await silences();
    assert.deepEqual(JSON.parse(stdout), {
      name: "AuthserveOldSecret",
      labels: { source: "stripe", secret: "env:A=B" },
      until: new Date(silence?.until ?? 0).toISOString(),
    });
    const { id: _, until, ...rest } = silence as Silence;
    assert.deepEqual(rest, {
      name: "AuthserveOldSecret",
      labels: { source: "stripe", secret: "env:A=B" },
      reason: "they know",
    });
    assert.ok(Math.abs(until - Date.now() - 48 * HOUR) < 60_000);
    assert.match((await run("silence", "AuthserveDiskLow")).stderr, /^AuthserveDiskLow is silenced until /);
  });

  test("ends with --off the silences of a name, or all of them", async () => {
    const names = ["AuthserveDiskLow", "AuthserveDiskLow", "AuthserveQueueOld", null] as const;
    const { run, silences } = await open(
      [],
      names.map((name, n) => ({ id: `s${n}`, name, labels: {}, reason: null, until: NOW + HOUR })),
    );
    assert.equal((await run("silence", "DiskLow", "--off")).stderr, "Ended 2 silences.\n");
    assert.equal((await run("silence", "DiskLow", "--off")).stderr, "There is no such silence.\n");
    assert.deepEqual(
      (await silences()).map(({ id }) => id),
      ["s2", "s3"],
    );
    assert.deepEqual(JSON.parse((await run("silence", "--off", "--json")).stdout), { removed: 2 });
    assert.deepEqual(await silences(), []);
  });

  for (const [args, message] of [
    [["AuthserveDeadLetter"], /There is no such alert\n {2}hint: did you mean AuthserveDeadLetters\?\n/],
    [["nothing"], /There is no such alert\n {2}hint: name one of AuthserveFailureRate, .*AuthserveSubscriptionEnds\n/],
    [["--label", "stripe"], /--label is not usable\n {2}hint: give a label and its value, e\.g\. source=stripe\n/],
    [["--for", "soon"], /--for is not usable\n {2}hint: give a duration of at most 365d, e\.g\. 2h\n/],
    [["--for", "0s"], /--for is not usable/],
    // Beyond the last time that a date can have.
    [["--for", "99999999d"], /--for is not usable/],
  ] as const) {
    test(`refuses ${args.join(" ")} as wrong usage`, async () => {
      const { run, silences } = await open();
      const { code, stdout, stderr } = await run("silence", ...args);
      assert.match(stderr, message);
      assert.deepEqual([code, stdout, await silences()], [2, "", []]);
    });
  }
});

suite("alerts test", { concurrency: 2 }, () => {
  async function openTarget(t: TestContext): Promise<ForwardTarget> {
    const target = await startTarget();
    t.after(() => target[Symbol.asyncDispose]());
    return target;
  }

  /** Runs the command with these lines of `alerts.notify`. */
  function run(lines: readonly string[], env: Record<string, string> = {}, ...args: string[]) {
    const dir = workingDir();
    writeFileSync(
      join(dir, "authserve.yaml"),
      `alerts:\n  notify:\n${lines.map((line) => `    - ${line}\n`).join("")}`,
    );
    return authserve(["alerts", "test", ...args], { dir, env });
  }

  test("sends a message to each notifier, without a database", async (t) => {
    const target = await openTarget(t);
    const env = { CHAT_URL: `${target.url}/chat`, PUBLIC_URL: "https://auth.example" };
    const { code, stdout, stderr } = await run(
      [`{ name: pager, webhook: ${target.url} }`, "slack: env:CHAT_URL", "exec: [cat]"],
      env,
    );
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^NOTIFIER +RESULT\npager +sent\nslack-127\.0\.0\.1 +sent\nexec-cat +sent\n$/);
    assert.equal(target.received.length, 2);
    const form = target.received.map(({ body }) => JSON.parse(String(body))).find(({ version }) => version === "4");
    assert.deepEqual([form.status, form.externalURL], ["firing", "https://auth.example"]);
    assert.equal(form.alerts[0].annotations.summary, "this is a test of the notifiers, nothing is wrong");
  });

  test("reaches Telegram, Gotify, Discord and a mail server", async (t) => {
    const [telegram, gotify, discord, mail] = await Promise.all([
      startTelegram(t, "123:abc", [-1001]),
      startGotify(t, "A.token"),
      startDiscord(t, "/api/webhooks/1/token"),
      startSmtpServer(t, { pair: pairNamed("first"), login: { user: "me", pass: "a password" } }),
    ]);
    const { code, stdout, stderr } = await run(
      [
        `{ name: telegram, telegram: -1001, token: env:BOT_TOKEN, botApi: ${telegram.origin} }`,
        `{ name: gotify, gotify: ${gotify.origin}, token: env:GOTIFY_TOKEN }`,
        "{ name: discord, discord: env:DISCORD_URL }",
        `{ name: mail, email: { host: localhost, port: ${mail.port}, user: me, password: env:SMTP_PASSWORD, from: a@a.test, to: b@b.test } }`,
      ],
      {
        BOT_TOKEN: "123:abc",
        GOTIFY_TOKEN: "A.token",
        DISCORD_URL: `${discord.origin}/api/webhooks/1/token`,
        SMTP_PASSWORD: "a password",
      },
    );
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^NOTIFIER +RESULT\ntelegram +sent\ngotify +sent\ndiscord +sent\nmail +sent\n$/);
    for (const { taken } of [telegram, gotify, discord])
      assert.match(JSON.stringify(taken), /this is a test of the notifiers, nothing is wrong/);
    assert.deepEqual(
      mail.mails.map(({ isTls, user }) => ({ isTls, user })),
      [{ isTls: true, user: "me" }],
    );
  });

  test("says which notifier did not take the message, and exits with 1, without the secret URL", async (t) => {
    const target = await openTarget(t);
    const closed = await startTarget();
    await closed[Symbol.asyncDispose]();
    const CHAT_URL = `${closed.url}/hunter2`;
    const lines = [`webhook: ${target.url}`, "slack: env:CHAT_URL", "exec: ['false']"];
    const { code, stdout, stderr } = await run(lines, { CHAT_URL });
    assert.equal(code, 1);
    assert.match(stdout, /\nwebhook-127\.0\.0\.1 +sent\n/);
    assert.match(stdout, /\nslack-127\.0\.0\.1 +failed: no answer \(ECONNREFUSED: .*\)\n/);
    assert.match(stdout, /\nexec-false +failed: the command exited with 1\n/);
    assert.match(stderr, /^error: 2 notifiers did not take the message\n {2}hint: correct alerts\.notify /);
    assert.doesNotMatch(stdout + stderr, /hunter2/);
  });

  test("prints JSON, also if a notifier did not take the message", async (t) => {
    const target = await openTarget(t);
    const lines = [`{ name: pager, webhook: ${target.url} }`, "exec: ['false']"];
    const { code, stdout } = await run(lines, {}, "--json");
    assert.equal(code, 1);
    assert.deepEqual(JSON.parse(stdout), [
      { name: "pager", kind: "webhook", sent: true, error: null },
      { name: "exec-false", kind: "exec", sent: false, error: "the command exited with 1" },
    ]);
  });

  test("runs programs without settings and secrets of the file", async () => {
    const script = '[ -n "$GREETING" ] && [ -z "$JWT_SECRET$CHAT_URL" ]';
    const env = { GREETING: "hello", JWT_SECRET: "hunter2", CHAT_URL: "http://127.0.0.1:1/hunter2" };
    const { stdout } = await run([`exec: [/bin/sh, -c, '${script}']`, "slack: env:CHAT_URL"], env);
    assert.match(stdout, /\nexec-sh +sent\n/);
  });

  for (const [what, yaml] of [
    ["a configuration file", null],
    ["notifiers in it", "alerts: { disk: off }\n"],
  ] as const) {
    test(`without ${what} is wrong usage`, async () => {
      const dir = workingDir();
      if (yaml !== null) writeFileSync(join(dir, "authserve.yaml"), yaml);
      const { code, stdout, stderr } = await authserve(["alerts", "test"], { dir });
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, /No notifier is configured\n {2}hint: add alerts\.notify to the configuration file\n/);
    });
  }
});
