import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { Notifier } from "../../../src/alerts/notifiers.ts";
import { DEFAULT_RULES } from "../../../src/alerts/rules.ts";
import { DEFAULT_ALERTS } from "../../../src/config/file/alerts.ts";
import { dir, faults, read, sourceIn } from "../../helpers/config-file.ts";

const DAY = 86_400_000;
const NTFY_TOKEN = "tk_of_the_tests";
const BOT_TOKEN = "123456:of_the_tests";
const CHAT_URL = "https://hooks.slack.test/services/hunter2";

const rulesIn = (yaml: string) => read(`alerts: ${yaml}\n`)?.alerts.rules;

/** The notifiers of a list, each in a line of YAML. */
const notifiersIn = (lines: readonly string[], environment: Record<string, string> = {}): readonly Notifier[] =>
  read(`alerts:\n  notify:\n${lines.map((line) => `    - ${line}\n`).join("")}`, environment)?.alerts.notifiers ?? [];

/** The faults of one notifier, with their columns. */
const notifierFaults = (entry: string, environment?: Record<string, string>) =>
  faults(`alerts:\n  notify:\n    - ${entry}\n`, environment).map((line) =>
    line.replace(/^3:(\d+) alerts\.notify\.0\.?/, "$1 "),
  );

suite("the rules of alerts", () => {
  test("have defaults, all of them or those of missing keys", () => {
    assert.deepEqual(read("{}")?.alerts, DEFAULT_ALERTS);
    assert.deepEqual(rulesIn("{}"), DEFAULT_RULES);
    assert.deepEqual(
      rulesIn("{ failureRate: {}, queue: {}, deadLetters: {}, disk: {}, certificate: {} }"),
      DEFAULT_RULES,
    );
    assert.deepEqual(rulesIn("{ failureRate: { over: 1h }, queue: { atLeast: 3 } }"), {
      ...DEFAULT_RULES,
      failureRate: { above: 0.5, overMs: 3_600_000, atLeast: 20 },
      queue: { olderThanMs: 300_000, growingForMs: 900_000, atLeast: 3 },
    });
  });

  test("are read with every key", () => {
    const text = `
  failureRate: { above: 0.1, over: 24h, atLeast: 1 }
  queue: { olderThan: 365d, growingFor: 1s, atLeast: '7' }
  deadLetters: { above: 100 }
  disk: { below: 2g }
  oldSecret: { after: 7d }
  certificate: { within: 30d }
  tokens: { within: 3d }
  notReady: { after: 1m }
  refused: { above: 5 }
  writes: { after: 2m }
  unreadable: { above: 1 }
  outage: { longerThan: 1h }
  subscription: { within: 3d }
  newLoginNetwork: { within: 1h }
  logouts: { after: 5m }`;
    assert.deepEqual(rulesIn(text), {
      failureRate: { above: 0.1, overMs: DAY, atLeast: 1 },
      queue: { olderThanMs: 365 * DAY, growingForMs: 1000, atLeast: 7 },
      deadLetters: { above: 100 },
      disk: { below: 2 * 1024 ** 3 },
      oldSecret: { afterMs: 7 * DAY },
      certificate: { withinMs: 30 * DAY },
      tokens: { withinMs: 3 * DAY },
      notReady: { afterMs: 60_000 },
      refused: { above: 5 },
      writes: { afterMs: 120_000 },
      unreadable: { above: 1 },
      outage: { longerThanMs: 3_600_000 },
      subscription: { withinMs: 3 * DAY },
      newLoginNetwork: { withinMs: 3_600_000 },
      logouts: { afterMs: 300_000 },
    });
  });

  test("are off by name", () => {
    const names = Object.keys(DEFAULT_RULES);
    const off = Object.fromEntries(names.map((name) => [name, null]));
    assert.deepEqual(rulesIn(`{ ${names.map((name) => `${name}: off`).join(", ")} }`), off);
    assert.deepEqual(rulesIn("{ disk: off }"), { ...DEFAULT_RULES, disk: null });
  });

  test("are refused with the place and the remedy of each fault", () => {
    assert.deepEqual(faults("alerts: 5"), [
      "1:9 alerts: found 5, expected a map such as { deadLetters: { above: 0 } }",
    ]);
    assert.deepEqual(
      faults(`alerts:
  failureRate: { above: 1.5, over: 25h, atLeast: 0, overr: 1m }
  queue: on
  deadLetter: off
  deadLetters: { above: -1 }
  disk: { below: lots }
  oldSecret: [1d]
  certificate: { within: 400d }
`),
      [
        '2:25 alerts.failureRate.above: found "1.5", expected a number from 0 to 1, e.g. 0.2',
        '2:36 alerts.failureRate.over: found "25h", expected a duration of at least 1000ms and at most 24h, e.g. 5m',
        '2:50 alerts.failureRate.atLeast: found "0", expected a whole number from 1 to 1000000000',
        "2:53 alerts.failureRate.overr: unknown key, expected one of above, over, atLeast (did you mean over?)",
        '3:10 alerts.queue: found "on", expected a map or off',
        "4:3 alerts.deadLetter: unknown key, expected one of notify, failureRate, queue, deadLetters, disk, oldSecret, certificate, tokens, notReady, refused, writes, unreadable, outage, subscription, newLoginNetwork, logouts (did you mean deadLetters?)",
        '5:25 alerts.deadLetters.above: found "-1", expected a whole number from 0 to 1000000000',
        '6:18 alerts.disk.below: found "lots", expected a size from 0 to 1000000g, e.g. 1g',
        "7:14 alerts.oldSecret: found a list, expected a map or off",
        '8:26 alerts.certificate.within: found "400d", expected a duration of at least 1000ms and at most 365d, e.g. 14d',
      ],
    );
  });
});

suite("expectEvery of a source", () => {
  const source = (every: string) => `{ preset: github, secrets: [env:SECRET], expectEvery: ${every} }`;

  test("is read as a duration, and has no default", () => {
    assert.equal(sourceIn(source("24h")).expectEveryMs, DAY);
    assert.equal(sourceIn("{ preset: github, secrets: [env:SECRET] }").expectEveryMs, undefined);
  });

  test("is refused with its place", () => {
    assert.deepEqual(faults(`sources:\n  shop: ${source("0s")}\n`), [
      '2:63 sources.shop.expectEvery: found "0s", expected a duration of at least 1000ms and at most 365d, e.g. 24h',
    ]);
  });
});

suite("notifiers", () => {
  test("are none without notify", () => {
    assert.deepEqual(read("alerts: { disk: off }\n")?.alerts.notifiers, []);
    assert.deepEqual(read("alerts: { notify: [] }\n")?.alerts.notifiers, []);
  });

  test("are read with every key", () => {
    assert.deepEqual(
      notifiersIn(
        [
          '{ name: pager, webhook: "https://hooks.test:8443/alert", secret: env:SECRET }',
          '{ name: chat, slack: "https://hooks.slack.test/services/x" }',
          '{ name: phone, ntfy: "http://ntfy.test/topic", token: env:NTFY_TOKEN }',
          '{ name: push, gotify: "https://gotify.test/sub", token: env:GOTIFY_TOKEN }',
          "{ name: group, telegram: -1001234567890, token: env:BOT_TOKEN }",
          '{ name: channel, telegram: "@alerts", token: env:BOT_TOKEN, botApi: "http://127.0.0.1:8081" }',
          "{ name: server, discord: env:DISCORD_URL }",
          "{ name: mail, email: { host: smtp.test, port: 465, user: me, password: env:SMTP_PASSWORD, from: me@a.test, to: [you@a.test, she@a.test] } }",
          "{ name: page, exec: [./bin/page, --now] }",
        ],
        {
          NTFY_TOKEN,
          BOT_TOKEN,
          GOTIFY_TOKEN: "A.token",
          DISCORD_URL: "https://discord.test/api/webhooks/1/x",
          SMTP_PASSWORD: "hunter2",
        },
      ),
      [
        {
          kind: "webhook",
          name: "pager",
          url: "https://hooks.test:8443/alert",
          key: new Uint8Array(Buffer.from("a secret of the tests")),
        },
        { kind: "slack", name: "chat", url: "https://hooks.slack.test/services/x" },
        { kind: "ntfy", name: "phone", url: "http://ntfy.test/topic", token: NTFY_TOKEN },
        { kind: "gotify", name: "push", url: "https://gotify.test/sub", token: "A.token" },
        {
          kind: "telegram",
          name: "group",
          url: "https://api.telegram.org/",
          token: BOT_TOKEN,
          chat: -1_001_234_567_890,
        },
        { kind: "telegram", name: "channel", url: "http://127.0.0.1:8081/", token: BOT_TOKEN, chat: "@alerts" },
        { kind: "discord", name: "server", url: "https://discord.test/api/webhooks/1/x" },
        {
          kind: "email",
          name: "mail",
          host: "smtp.test",
          port: 465,
          isTlsFirst: true,
          isLocal: false,
          login: { user: "me", pass: "hunter2" },
          from: "me@a.test",
          to: ["you@a.test", "she@a.test"],
        },
        { kind: "exec", name: "page", command: [join(dir, "bin/page"), "--now"], folder: dir },
      ].map((notifier) => ("key" in notifier ? { ...notifier, key: Buffer.from(notifier.key ?? []) } : notifier)),
    );
  });

  test("have no signature and no token unless these are configured", () => {
    const [webhook, ntfy] = notifiersIn(["webhook: http://a.test/", "ntfy: http://a.test/topic"]);
    assert.equal(webhook?.kind === "webhook" && webhook.key, null);
    assert.equal(ntfy?.kind === "ntfy" && ntfy.token, null);
  });

  for (const [host, isLocal] of [
    ["localhost", true],
    ["127.0.0.1", true],
    ["'::1'", true],
    ["localhost.test", false],
    ["192.0.2.1", false],
    ["'2001:db8::1'", false],
  ] as const) {
    test(`that mail by ${host} have STARTTLS by default, ${isLocal ? "if it is offered" : "always"}`, () => {
      const [mail] = notifiersIn([`email: { host: ${host}, from: me@a.test, to: you@a.test }`]);
      assert.ok(mail?.kind === "email");
      assert.deepEqual([mail.port, mail.isTlsFirst, mail.isLocal, mail.login], [587, false, isLocal, null]);
    });
  }

  test("are named after their kind and host or program", () => {
    const names = notifiersIn(
      [
        "webhook: http://hooks.test:81/alert",
        "slack: env:CHAT_URL",
        "ntfy: https://ntfy.test/topic",
        "exec: [/usr/local/bin/page, --now]",
        "exec: [mail]",
        "discord: https://discord.test/api/webhooks/1/x",
        "{ gotify: http://gotify.test/, token: env:BOT_TOKEN }",
        "{ telegram: 5, token: env:BOT_TOKEN }",
        "email: { host: smtp.test, from: me@a.test, to: you@a.test }",
      ],
      { CHAT_URL, BOT_TOKEN },
    ).map(({ name }) => name);
    assert.deepEqual(names, [
      "webhook-hooks.test",
      "slack-hooks.slack.test",
      "ntfy-ntfy.test",
      "exec-page",
      "exec-mail",
      "discord-discord.test",
      "gotify-gotify.test",
      "telegram-api.telegram.org",
      "email-smtp.test",
    ]);
  });

  test("are numbered if their names are the same", () => {
    const names = notifiersIn([
      "{ name: a, exec: [x] }",
      "exec: [page]",
      "exec: [/bin/page]",
      "{ name: a, exec: [y] }",
    ]);
    assert.deepEqual(
      names.map(({ name }) => name),
      ["a", "exec-page", "exec-page-2", "a-2"],
    );
  });

  test("never get a name that another one has", () => {
    for (const order of [
      ["a", "a", "a-2"],
      ["a-2", "a", "a"],
    ]) {
      const names = notifiersIn(order.map((name) => `{ name: ${name}, exec: [x] }`)).map(({ name }) => name);
      assert.equal(new Set(names).size, 3, names.join());
    }
  });

  test("look a program without a folder up on the path", () => {
    const [notifier] = notifiersIn(["exec: [page, ./a]"]);
    assert.deepEqual(notifier?.kind === "exec" && notifier.command, ["page", "./a"]);
  });

  for (const [reference, where] of [
    ["env:CHAT_URL", "the environment"],
    ["file:secrets/chat", "a file beside the configuration file"],
  ] as const) {
    test(`read a secret URL from ${where}`, () => {
      mkdirSync(join(dir, "secrets"), { recursive: true });
      writeFileSync(join(dir, "secrets/chat"), `${CHAT_URL}\n`);
      const [notifier] = notifiersIn([`slack: ${reference}`], { CHAT_URL });
      assert.deepEqual(notifier, { kind: "slack", name: "slack-hooks.slack.test", url: CHAT_URL });
    });
  }

  test("read a URL from the environment in any spelling", () => {
    const [notifier] = notifiersIn(["slack: env:CHAT_URL"], { CHAT_URL: ` ${CHAT_URL.replace("https", "HTTPS")}` });
    assert.equal(notifier?.kind === "slack" && notifier.url, CHAT_URL);
  });

  test("hide the names of their secrets from programs", () => {
    const yaml =
      "alerts:\n  notify:\n    - slack: env:CHAT_URL\n    - { ntfy: http://a.test/, token: env:NTFY_TOKEN }\n";
    assert.deepEqual(read(yaml, { CHAT_URL, NTFY_TOKEN })?.secretNames, ["CHAT_URL", "NTFY_TOKEN"]);
  });

  test("warn of a short secret without its value", () => {
    const file = read("alerts:\n  notify:\n    - { webhook: http://a.test/, secret: env:SHORT }\n", {
      SHORT: "hunter2",
    });
    assert.equal(file?.warnings.length, 1);
    assert.match(
      file?.warnings[0] ?? "",
      /:3:42 alerts\.notify\.0\.secret: env:SHORT is shorter than 16 characters: use a random one$/,
    );
  });
});

const KINDS = "expected one of webhook, slack, discord, telegram, email, ntfy, gotify, exec";
const MAIL = "host: a.test, from: me@a.test, to: you@a.test";
const URL_FORM = "expected an http or https URL, or env:NAME or file:PATH that has one";
const HOST_FORM = "expected the name or address of a mail server, e.g. smtp.example.com";
const ADDRESS_FORM = "expected an e-mail address, e.g. me@example.com";
const CHAT_FORM = "expected the id of a chat or @ and the name of a channel, e.g. -1001234567890";
const COMMAND = "expected a program and its arguments";

suite("a notifier is refused", () => {
  for (const [entry, ...expected] of [
    [
      "http://a.test/",
      "7 : found text, expected a map with one of webhook, slack, discord, telegram, email, ntfy, gotify, exec",
    ],
    ["{}", `7 : found no notifier, ${KINDS}`],
    ["{ name: a }", `7 : found no notifier, ${KINDS}`],
    [
      "{ webhok: http://a.test/ }",
      `7 : found no notifier, ${KINDS}`,
      "9 webhok: unknown key, expected one of name, webhook, secret, slack, discord, telegram, botApi, email, ntfy, gotify, token, exec (did you mean webhook?)",
    ],
    [
      "{ slack: http://a.test/, exec: [page], ntfy: http://b.test/ }",
      "32 exec: found beside slack, expected one notifier",
      "46 ntfy: found beside slack, expected one notifier",
    ],
    ["{ slack: http://a.test/, secret: env:SECRET }", "32 secret: found beside slack, expected webhook"],
    ["{ exec: [page], token: env:SECRET }", "23 token: found beside exec, expected ntfy or gotify or telegram"],
    [
      "{ webhook: http://a.test/, token: env:SECRET }",
      "34 token: found beside webhook, expected ntfy or gotify or telegram",
    ],
    [
      "{ name: A b, exec: [page] }",
      '15 name: found "A b", expected a name of 1 to 64 small letters, digits and -, e.g. shop',
    ],
    ["{ webhook: a.test/alert }", `18 webhook: found text, ${URL_FORM}`],
    ["{ webhook: ftp://a.test/ }", `18 webhook: found text, ${URL_FORM}`],
    ["{ ntfy: 5 }", `15 ntfy: found a number, ${URL_FORM}`],
    ["{ slack: 'http://' }", `16 slack: found text, ${URL_FORM}`],
    ["{ slack: 'http://:80/' }", "16 slack: found text that is no URL, expected an http or https URL"],
    ["{ slack: env:NONE }", "16 slack: found env:NONE, which is not set, expected a secret"],
    ["{ slack: env:NO_URL }", "16 slack: found text that is no URL, expected an http or https URL"],
    ["{ ntfy: file:none }", "15 ntfy: found file:none, which cannot be read (ENOENT), expected a readable file"],
    [
      "{ webhook: http://a.test/, secret: hunter2 }",
      "42 secret: found a literal value, expected env:NAME or file:PATH",
    ],
    ["{ ntfy: http://a.test/, token: hunter2 }", "38 token: found a literal value, expected env:NAME or file:PATH"],
    [
      "{ webhook: http://a.test/, secret: env:WHSEC }",
      "42 secret: found env:WHSEC, whose value does not have the form, expected text, or whsec_ and base64",
    ],
    ["{ gotify: http://a.test/ }", "7 token: missing, expected env:NAME or file:PATH"],
    ["{ gotify: http://a.test/, token: env:NONE }", "40 token: found env:NONE, which is not set, expected a secret"],
    ["{ discord: a.test/hook }", `18 discord: found text, ${URL_FORM}`],
    ["{ discord: http://a.test/, botApi: http://b.test/ }", "34 botApi: found beside discord, expected telegram"],
    ["{ telegram: 5 }", "7 token: missing, expected env:NAME or file:PATH"],
    ["{ telegram: alerts, token: env:BOT_TOKEN }", `19 telegram: found text, ${CHAT_FORM}`],
    ["{ telegram: 0, token: env:BOT_TOKEN }", `19 telegram: found text, ${CHAT_FORM}`],
    ["{ telegram: 1.5, token: env:BOT_TOKEN }", `19 telegram: found text, ${CHAT_FORM}`],
    ["{ telegram: [5], token: env:BOT_TOKEN }", `19 telegram: found a list, ${CHAT_FORM}`],
    [
      "{ telegram: 5, token: env:NO_URL }",
      "29 token: found env:NO_URL, whose value does not have the form, expected the token of a bot, e.g. 123456:ABC-DEF",
    ],
    ["{ telegram: 5, token: env:BOT_TOKEN, botApi: 'https://' }", `52 botApi: found text, ${URL_FORM}`],
    [
      "{ email: me@a.test }",
      "16 email: found text, expected a map such as { host: smtp.example.com, from: authserve@example.com, to: me@example.com }",
    ],
    [
      "{ email: {} }",
      `16 email.host: missing, expected the name or address of a mail server, e.g. smtp.example.com`,
      `16 email.from: missing, expected an e-mail address, e.g. me@example.com`,
      `16 email.to: missing, expected an e-mail address or a list of them`,
    ],
    [
      "{ email: { host: 'smtp://a.test', from: me@a.test, to: you@a.test } }",
      `24 email.host: found text, ${HOST_FORM}`,
    ],
    ["{ email: { host: 'a.test:25', from: me@a.test, to: you@a.test } }", `24 email.host: found text, ${HOST_FORM}`],
    [`{ email: { ${MAIL}, port: 0 } }`, `71 email.port: found "0", expected a whole number from 1 to 65535`],
    [`{ email: { ${MAIL}, user: me } }`, `65 email.user: found without password, expected both`],
    [`{ email: { ${MAIL}, password: env:BOT_TOKEN } }`, `65 email.password: found without user, expected both`],
    [
      `{ email: { ${MAIL}, user: me, password: hunter2 } }`,
      `85 email.password: found a literal value, expected env:NAME or file:PATH`,
    ],
    [
      "{ email: { host: a.test, from: 'Me <me@a.test>', to: 'you@a.test, she@a.test' } }",
      `38 email.from: found "Me <me@a.test>", ${ADDRESS_FORM}`,
      `60 email.to: found "you@a.test, she@a.test", ${ADDRESS_FORM}`,
    ],
    [
      '{ email: { host: a.test, from: "me@a.test\\nBcc: you@a.test", to: [] } }',
      `38 email.from: found "me@a.test\\u{a}Bcc: you@a.test", ${ADDRESS_FORM}`,
      `72 email.to: found an empty list, expected at least one address`,
    ],
    [
      "{ email: { host: a.test, from: me@a.test, to: [you@a.test, she] } }",
      `66 email.to.1: found "she", ${ADDRESS_FORM}`,
    ],
    [
      `{ email: { ${MAIL}, tls: off } }`,
      `65 email.tls: unknown key, expected one of host, port, user, password, from, to`,
    ],
    ["{ exec: page --now }", "15 exec: found text, expected a program and its arguments"],
    ["{ exec: [] }", `15 exec: found an empty list, ${COMMAND}`],
    ["{ exec: [''] }", `15 exec: found a list, ${COMMAND}`],
    ['{ exec: [page, "a\\0b"] }', "22 exec.1: found text, expected text without U+0000"],
  ] as const) {
    test(entry, () => {
      const environment = { NO_URL: "hunter2", WHSEC: "whsec_hunter2!", BOT_TOKEN };
      assert.deepEqual(notifierFaults(entry, environment), expected);
    });
  }

  test("that is no list", () => {
    assert.deepEqual(faults("alerts:\n  notify: { slack: http://a.test/ }\n"), [
      "2:11 alerts.notify: found a map, expected a list",
    ]);
  });
});

test("no fault shows a literal secret, a URL or a command", () => {
  const url = "http://hunter2.test/hunter2";
  for (const entry of [
    "hunter2",
    url,
    `[${url}]`,
    "{ webhook: hunter2 }",
    `{ webhook: [${url}] }`,
    `{ webhook: "${url}", slack: "${url}" }`,
    '{ slack: "http://hunter2:hunter2@:80/" }',
    "{ slack: env:hunter2 }",
    `{ ntfy: { url: "${url}" } }`,
    "{ webhook: http://a.test/, secret: hunter2 }",
    "{ webhook: http://a.test/, secret: whsec_hunter2 }",
    "{ webhook: http://a.test/, secret: [hunter2] }",
    "{ webhook: http://a.test/, secret: { hunter2: 1, hunter2: 2 } }",
    "{ webhook: http://a.test/, secret: !hunter2 }",
    "{ webhook: http://a.test/, secret: env:hunter2 }",
    "{ slack: http://a.test/, secret: hunter2 }",
    "{ ntfy: http://a.test/, token: hunter2 }",
    "{ ntfy: http://a.test/, token: { hunter2: 1 } }",
    `{ discord: [${url}] }`,
    "{ telegram: 5, token: 123456:hunter2 }",
    "{ telegram: 123456:hunter2 }",
    `{ telegram: 5, token: env:X, botApi: [${url}] }`,
    "{ gotify: http://a.test/, token: hunter2 }",
    "{ email: smtp://me:hunter2@a.test }",
    `{ email: { ${MAIL}, user: me, password: hunter2 } }`,
    `{ email: { ${MAIL}, user: me, password: { hunter2: 1 } } }`,
    `{ email: { ${MAIL}, user: [hunter2], password: env:hunter2 } }`,
    "{ email: { host: 'me:hunter2@a.test', from: https://hunter2, to: https://hunter2 } }",
    "{ exec: curl -u user:hunter2 }",
    '{ exec: [curl, "hunter2\\0"] }',
  ]) {
    const lines = notifierFaults(entry);
    assert.ok(lines.length > 0, entry);
    assert.equal(lines.join("\n").includes("hunter2"), false, lines.join("\n"));
  }
});

test("a URL in place of the list is not shown", () => {
  assert.deepEqual(faults(`alerts:\n  notify: ${CHAT_URL}\n`), ["2:11 alerts.notify: found text, expected a list"]);
});
