import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { dir, ENVIRONMENT, faults, read, routeFaultsOf } from "../../helpers/config-file.ts";

mkdirSync(join(dir, "handlers"));

const KEYS =
  "expected one of name, source, types, when, transform, http, to, exec, module, log, retry, delay, orderBy, whenStuck, concurrency, rate, shadow";
const URL_FORM = "expected an http or https URL without user and password, e.g. http://127.0.0.1:8080/events";
const PATH_FORM = "expected a path with dots and without body:, e.g. data.object.customer";
const STATUS_FORM = "expected a status from 100 to 599 or a range, e.g. 404, 400-499 or !429";
const RATE_FORM = "expected a number of attempts per second, minute or hour, e.g. 100/s";
const DELAY_FORM = "expected a duration of at least 1ms and at most 24h, e.g. 1s";

const OPERATORS = "expected one of eq, ne, gt, gte, lt, lte, in, startsWith, endsWith, contains, exists, not";

suite("a route is refused", () => {
  for (const [entry, ...expected] of [
    ["a", "5 : found text, expected a map with name and a handler"],
    ["{ log: {} }", "5 name: missing, expected a name of 1 to 64 small letters, digits and -, e.g. shop"],
    [
      "{ name: A b, log: {} }",
      '13 name: found "A b", expected a name of 1 to 64 small letters, digits and -, e.g. shop',
    ],
    ["{ name: a, log: {}, whn: {} }", `25 whn: unknown key, ${KEYS} (did you mean when?)`],
    [
      "{ name: a, log: {}, source: shopp }",
      '33 source: found "shopp", expected the name of a source (did you mean shop?)',
    ],
    ["{ name: a, log: {}, source: [shop, default] }", '40 source.1: found "default", expected the name of a source'],
    ["{ name: a, log: {}, source: [] }", "33 source: found an empty list, expected at least one source"],
    ["{ name: a, log: {}, types: [] }", "32 types: found an empty list, expected at least one type"],
    [
      '{ name: a, log: {}, types: [a, "!"] }',
      '36 types.1: found "!", expected a type, e.g. invoice.*, or ! and a type',
    ],
    ["{ name: a, log: {}, types: [7] }", "33 types.0: found 7, expected a type, e.g. invoice.*, or ! and a type"],
    ["{ name: a, log: {}, when: [a] }", "31 when: found a list, expected a map of paths and values"],
    ["{ name: a, log: {}, when: { a..b: 1 } }", `33 when.a..b: found "a..b", ${PATH_FORM}`],
    ["{ name: a, log: {}, when: { body:a: 1 } }", `33 when.body:a: found "body:a", ${PATH_FORM}`],
    ["{ name: a, log: {}, when: { a: [] } }", "36 when.a: found an empty list, expected at least one value"],
    ["{ name: a, log: {}, when: { a: { b: 1 } } }", `38 when.a.b: unknown operator, ${OPERATORS}`],
    ["{ name: a, log: {}, when: { constructor: { b: 1 } } }", `48 when.constructor.b: unknown operator, ${OPERATORS}`],
    [
      "{ name: a, log: {}, when: { a: { gt3: 1 } } }",
      `38 when.a.gt3: unknown operator, ${OPERATORS} (did you mean gt?)`,
    ],
    ["{ name: a, log: {}, when: { a: {} } }", `36 when.a: found an empty map, ${OPERATORS}`],
    [
      "{ name: a, log: {}, when: { a: { gte: soon } } }",
      '43 when.a.gte: found "soon", expected a number or a time, e.g. 2026-01-31T12:00:00Z',
    ],
    ["{ name: a, log: {}, when: { a: { exists: 1 } } }", "46 when.a.exists: found 1, expected true or false"],
    ["{ name: a, log: {}, when: { a: { in: 1 } } }", "42 when.a.in: found 1, expected a list with at least one value"],
    ["{ name: a, log: {}, when: { a: { endsWith: 1 } } }", "48 when.a.endsWith: found 1, expected text"],
    ["{ name: a, log: {}, when: { a: { eq: [1] } } }", "42 when.a.eq: found a list, expected a single value"],
    [
      "{ name: a, log: {}, when: { any: { a: 1 } } }",
      "38 when.any: found a map, expected a list of maps of conditions",
    ],
    ["{ name: a, log: {}, when: { any: [1, { a: 1 }] } }", "39 when.any.0: found 1, expected a map of conditions"],
    ["{ name: a, log: {}, when: { not: { a..b: 1 } } }", `40 when.not.a..b: found "a..b", ${PATH_FORM}`],
    [
      "{ name: a, log: {}, when: { header:x-hub-signature: 1 } }",
      "33 when.header:x-hub-signature: found a header that is never stored, as it may have a secret, expected another one",
    ],
    [
      `{ name: a, log: {}, when: ${"{ not: ".repeat(20)}{ a: 1 }${" }".repeat(20)} }`,
      `94 when${".not".repeat(9)}: found over 8 levels of conditions, expected fewer`,
    ],
    [
      `{ name: a, log: {}, when: { ${Array.from({ length: 101 }, (_, at) => `a${at}: 1`).join(", ")} } }`,
      "31 when: found over 100 tests, expected fewer",
    ],
    ["{ name: a, log: {}, when: { a: { eq: .nan } } }", "42 when.a.eq: found NaN, expected a number of JSON"],
    ["{ name: a, log: {}, when: { a: { gt: -.inf } } }", "42 when.a.gt: found -Infinity, expected a number of JSON"],
    ["{ name: a, log: {}, when: { a: [1, [2]] } }", "40 when.a.1: found a list, expected a single value"],
    [
      "{ name: a, http: { url: http://h/, method: get } }",
      '48 http.method: found "get", expected one of POST, PUT, PATCH, GET, DELETE',
    ],
    ...["Host", "content-length", "Transfer-Encoding", "Idempotency-Key", "X-Original-A", "webhook-id"].map(
      (name) =>
        [
          `{ name: a, http: { url: http://h/, headers: { ${name}: x } } }`,
          `51 http.headers.${name}: found a header that authserve sets itself, expected another one`,
        ] as const,
    ),
    ...["Authorization: Bearer hunter2", "cookie: hunter2", "X-Api-Key: hunter2", "token: hunter2"].map(
      (header) =>
        [
          `{ name: a, http: { url: http://h/, headers: { "${header.replace(": ", '": "')}" } } }`,
          `${51 + header.indexOf(" ") + 3} http.headers.${header.split(":")[0]}: found a literal value, expected the secret in it as \${env:NAME} or \${file:PATH}`,
        ] as const,
    ),
    [
      '{ name: a, http: { url: http://h/, headers: { X-A: "a\\nb", x-a: c } } }',
      "56 http.headers.X-A: found a value that no header can have, expected text without line ends",
      "64 http.headers.x-a: found a second time in other letters, expected once",
    ],
    [
      `{ name: a, http: { url: http://h/, headers: { X-A: "\${env:NONE}\${SECRET}" } } }`,
      "56 http.headers.X-A: found env:NONE, which is not set, expected a secret",
      "56 http.headers.X-A: found a literal value, expected env:NAME or file:PATH",
    ],
    ["{ name: a, log: {}, transform: $ }", '36 transform: found "$", expected a map with jsonata or file'],
    ["{ name: a, log: {}, transform: {} }", "36 transform: expected either jsonata or file"],
    ["{ name: a, log: {}, transform: { jsonata: $, file: b } }", "36 transform: expected either jsonata or file"],
    [
      "{ name: a, log: {}, transform: { jsonata: \"{'a' b}\" } }",
      '47 transform.jsonata: found no expression of JSONata: Expected ":", got "b" (at character 6)',
    ],
    [
      "{ name: a, log: {}, transform: { file: none.jsonata } }",
      "44 transform.file: found a file that cannot be read (ENOENT), expected a readable one",
    ],
    [
      "{ name: a, log: {}, delay: 1m, orderBy: a }",
      "25 delay: found beside orderBy, expected one of them: a job of a key waits for the one before it",
    ],
    [
      "{ name: a, http: { url: http://h/, method: GET, body: cloudevents-structured } }",
      "59 http.body: found beside GET, which sends no body, expected raw or cloudevents-binary",
    ],
    [
      "{ name: a, http: { url: https://h/, tls: { ca: none.pem } } }",
      "52 http.tls.ca: found a file that cannot be read (ENOENT), expected a readable one",
    ],
    [
      "{ name: a, http: { url: http://h/, tls: { cert: none.pem } } }",
      "40 http.tls: found beside an http URL, expected an https one",
      "45 http.tls: found only one of cert and key, expected both",
      "53 http.tls.cert: found a file that cannot be read (ENOENT), expected a readable one",
    ],
    [
      "{ name: a, http: { url: http://h/, signWith: githb, secret: env:SECRET } }",
      '50 http.signWith: found "githb", expected the name of a preset (did you mean github?)',
    ],
    [
      "{ name: a, http: { url: http://h/, signWith: github } }",
      "40 http.signWith: found without secret, expected the secret beside it",
    ],
    [
      "{ name: a, http: { url: http://h/, signWith: paypal, secret: env:SECRET } }",
      "50 http.signWith: found a preset that needs webhookId, expected one that needs a secret only",
    ],
    [
      "{ name: a, http: { url: http://h/, signWith: livekit, secret: env:SECRET } }",
      "50 http.signWith: found a preset that needs the API key, expected one that needs a secret only",
    ],
    [
      "{ name: a, http: { url: http://h/, signWith: discord, secret: env:SECRET } }",
      "67 http.secret: found env:SECRET, with which discord cannot sign, expected another one",
    ],
    [
      "{ name: a, http: { url: http://h/, signWith: github, secret: env:SECRET, method: GET } }",
      "40 http.signWith: found beside GET, which sends no body, expected another method",
    ],
    [
      "{ name: a, http: { url: http://h/, signWith: github, secret: env:SECRET, body: cloudevents-binary } }",
      "40 http.signWith: found beside body: cloudevents-binary, expected one of them",
    ],
    ["{ name: a }", "5 : found no handler, expected one of http, to, exec, module, log"],
    [
      "{ name: a, to: http://h/, log: {}, exec: { command: [x] } }",
      "31 log: found beside to, expected one handler",
      "40 exec: found beside to, expected one handler",
    ],
    ["{ name: a, to: example.com }", `20 to: found text, ${URL_FORM}`],
    ["{ name: a, to: ftp://h/ }", `20 to: found text, ${URL_FORM}`],
    ["{ name: a, to: 5 }", `20 to: found a number, ${URL_FORM}`],
    ["{ name: a, http: http://h/ }", "22 http: found text, expected a map with url"],
    ["{ name: a, http: {} }", `22 http.url: missing, ${URL_FORM}`],
    [
      "{ name: a, http: { url: http://h/, timout: 1s } }",
      "40 http.timout: unknown key, expected one of url, method, headers, body, secret, signWith, tls, timeout (did you mean timeout?)",
    ],
    [
      "{ name: a, http: { url: http://h/, timeout: 10 } }",
      "49 http.timeout: found 10, expected a duration of at least 1ms and under 24 days, e.g. 30s",
    ],
    ["{ name: a, exec: ls }", "22 exec: found text, expected a map with command"],
    ["{ name: a, exec: { command: ls } }", "33 exec.command: found text, expected a program and its arguments"],
    [
      "{ name: a, exec: { command: [] } }",
      "33 exec.command: found an empty list, expected a program and its arguments",
    ],
    ['{ name: a, exec: { command: [""] } }', "33 exec.command: found a list, expected a program and its arguments"],
    ["{ name: a, exec: { command: [sleep, 5] } }", "41 exec.command.1: found a number, expected text without U+0000"],
    [
      "{ name: a, module: { file: none.mjs } }",
      '32 module.file: found "none.mjs", which cannot be read (ENOENT), expected a readable file',
    ],
    [
      "{ name: a, module: { file: handlers } }",
      '32 module.file: found "handlers", which is no regular file, expected a readable file',
    ],
    ["{ name: a, log: }", "21 log: found null, expected {}"],
    ["{ name: a, log: { level: info } }", "23 log.level: unknown key, expected none"],
    ["{ name: a, log: {}, retry: 5 }", "32 retry: found 5, expected a map"],
    [
      "{ name: a, log: {}, retry: { attempts: 101 } }",
      '44 retry.attempts: found "101", expected a whole number from 1 to 100',
    ],
    [
      "{ name: a, log: {}, retry: { backoff: linea } }",
      '43 retry.backoff: found "linea", expected one of exponential, linear (did you mean linear?)',
    ],
    ["{ name: a, log: {}, retry: { delay: 25h } }", `41 retry.delay: found "25h", ${DELAY_FORM}`],
    ["{ name: a, log: {}, retry: { maxDelay: 1 } }", `44 retry.maxDelay: found 1, ${DELAY_FORM}`],
    [
      "{ name: a, log: {}, retry: { delay: 2s, maxDelay: 1s } }",
      '55 retry.maxDelay: found "1s", expected at least delay, which is 2s',
    ],
    [
      "{ name: a, log: {}, retry: { jitter: 20% } }",
      '42 retry.jitter: found "20%", expected a number from 0 to 1, e.g. 0.2',
    ],
    [
      "{ name: a, log: {}, retry: { delays: [] } }",
      "42 retry.delays: found an empty list, expected at least one delay",
    ],
    [
      "{ name: a, log: {}, retry: { delays: [1s], attempts: 3, backoff: linear, delay: 1s, maxDelay: 1m } }",
      "48 retry.attempts: found beside delays, expected one of them",
      "61 retry.backoff: found beside delays, expected one of them",
      "78 retry.delay: found beside delays, expected one of them",
      "89 retry.maxDelay: found beside delays, expected one of them",
    ],
    [
      "{ name: a, to: http://h/, retry: { giveUpOn: [] } }",
      "50 retry.giveUpOn: found an empty list, expected at least one status",
    ],
    [
      '{ name: a, to: http://h/, retry: { giveUpOn: [99, 600, "404-400", true] } }',
      `51 retry.giveUpOn.0: found "99", ${STATUS_FORM}`,
      `55 retry.giveUpOn.1: found "600", ${STATUS_FORM}`,
      `60 retry.giveUpOn.2: found "404-400", ${STATUS_FORM}`,
      `71 retry.giveUpOn.3: found true, ${STATUS_FORM}`,
    ],
    ["{ name: a, log: {}, retry: { giveUpOn: [404] } }", "34 retry.giveUpOn: found beside log, expected http or to"],
    ["{ name: a, log: {}, orderBy: body:a }", `34 orderBy: found "body:a", ${PATH_FORM}`],
    ["{ name: a, log: {}, whenStuck: skip }", "25 whenStuck: found without orderBy, expected both or neither"],
    ["{ name: a, log: {}, orderBy: a, whenStuck: wait }", '48 whenStuck: found "wait", expected one of block, skip'],
    ["{ name: a, log: {}, concurrency: 0 }", '38 concurrency: found "0", expected a whole number from 1 to 1000'],
    ["{ name: a, log: {}, rate: 100 }", `31 rate: found 100, ${RATE_FORM}`],
    ["{ name: a, log: {}, rate: 0/s }", `31 rate: found "0/s", ${RATE_FORM}`],
    ["{ name: a, log: {}, rate: 5/d }", `31 rate: found "5/d", ${RATE_FORM}`],
  ] as const) {
    test(entry, () => assert.deepEqual(routeFaultsOf(entry), expected));
  }

  test("with all of its faults in one report", () => {
    assert.deepEqual(
      faults(`routes:
  - name: a
    source: shop
    http: { url: http://h/, timeout: 0s, secret: env:NONE }
    retry: { attempts: 0, maxDely: 1s }
    rate: fast
  - { name: a, log: {} }
  - { name: a, exec: { command: x }, module: { file: none.mjs } }
source: {}
`).map((line) => line.replace(/: .*/, "")),
      [
        "3:13 routes.0.source",
        "4:38 routes.0.http.timeout",
        "4:50 routes.0.http.secret",
        "5:24 routes.0.retry.attempts",
        "5:27 routes.0.retry.maxDely",
        "6:11 routes.0.rate",
        "7:13 routes.1.name",
        "8:13 routes.2.name",
        "8:33 routes.2.exec.command",
        "8:38 routes.2.module",
        "8:54 routes.2.module.file",
        "9:1 source",
      ],
    );
  });
});

suite("the list of routes", () => {
  test("is a list with at least one", () => {
    assert.deepEqual(faults("routes: []\n"), ["1:9 routes: found an empty list, expected at least one route"]);
    assert.deepEqual(faults("routes: {}\n"), ["1:9 routes: found a map, expected a list of routes"]);
    assert.deepEqual(faults("routes:\n"), ["1:8 routes: found null, expected a list of routes"]);
  });

  test("has each name once", () => {
    assert.deepEqual(faults("routes:\n  - { name: a, log: {} }\n  - { name: a, log: {} }\n"), [
      '3:13 routes.1.name: found "a" a second time, after line 2, expected another name',
    ]);
  });

  test("is refused beside FORWARD_URL, which is not shown", () => {
    const lines = faults("routes:\n  - { name: a, log: {} }\n", { FORWARD_URL: "http://h/hunter2" });
    assert.deepEqual(lines, [
      "1:1 routes: found beside the setting FORWARD_URL, expected one of them: remove it, or write it as to: in a route",
    ]);
    assert.equal(read("sources: {}\n", { FORWARD_URL: "http://h/" })?.routes, null);
  });

  test("may name the source of the environment", () => {
    const yaml = "routes:\n  - { name: a, log: {}, source: default }\n";
    assert.match(faults(yaml).join(), /^2:33 routes\.0\.source: found "default", expected the name of a source$/);
    assert.equal(read(yaml, { WEBHOOK_SECRET: "the secret of the default source" })?.routes?.length, 1);
  });

  test("has no further faults if the sources cannot be read", () => {
    assert.deepEqual(faults("sources: 5\nroutes:\n  - { name: a, log: {}, source: shop }\n"), [
      "1:10 sources: found 5, expected a map of names and sources",
    ]);
  });
});

suite("the secret of a route", () => {
  const http = (secret: string) => `{ name: a, http: { url: http://h/, secret: ${secret} } }`;

  for (const [secret, fault] of [
    ["env:NONE", /^48 http\.secret: found env:NONE, which is not set, expected a secret$/],
    ["file:none", /^48 http\.secret: found file:none, which cannot be read \(ENOENT\), expected a readable file$/],
    ["env:TOKENS", /^48 http\.secret: found env:TOKENS, which is also a secret of tokens, expected a different one$/],
    [
      "env:WHSEC",
      /^48 http\.secret: found env:WHSEC, whose value does not have the form, expected text, or whsec_ and base64$/,
    ],
    ["5", /^48 http\.secret: found a literal value, expected env:NAME or file:PATH$/],
  ] as const) {
    test(`cannot be ${secret}`, () => {
      const environment = { JWT_SECRET: ENVIRONMENT.OTHER, TOKENS: ENVIRONMENT.OTHER, WHSEC: "whsec_hunter2!" };
      assert.match(routeFaultsOf(http(secret), environment).join("\n"), fault);
    });
  }

  test("that is short is warned of, without its value", () => {
    const file = read(`routes:\n  - ${http("env:SHORT")}\n`, { SHORT: "hunter2" });
    assert.equal(file?.warnings.length, 1);
    assert.match(
      file?.warnings[0] ?? "",
      /:2:48 routes\.0\.http\.secret: env:SHORT is shorter than 16 characters: use a random one$/,
    );
  });
});

test("no fault shows a literal secret, a password or a command", () => {
  for (const entry of [
    "hunter2",
    "{ name: a, http: { url: http://h/, secret: hunter2 } }",
    "{ name: a, http: { url: http://h/, secret: whsec_hunter2 } }",
    "{ name: a, http: { url: http://h/, secret: [hunter2] } }",
    "{ name: a, http: { url: http://h/, secret: { hunter2: 1, hunter2: 2 } } }",
    "{ name: a, http: { url: http://h/, secret: !hunter2 } }",
    "{ name: a, http: { url: http://h/, secret: env:hunter2 } }",
    "{ name: a, http: { url: http://user:hunter2@h/ } }",
    "{ name: a, http: { url: [http://user:hunter2@h/] } }",
    "{ name: a, http: http://user:hunter2@h/ }",
    "{ name: a, to: http://user:hunter2@h/ }",
    '{ name: a, to: "user:hunter2@h/a b" }',
    "{ name: a, exec: curl -u user:hunter2 }",
    "{ name: a, exec: { command: curl -u user:hunter2 } }",
    '{ name: a, exec: { command: [curl, "hunter2\\0"] } }',
  ]) {
    const lines = routeFaultsOf(entry);
    assert.ok(lines.length > 0, entry);
    assert.equal(lines.join("\n").includes("hunter2"), false, lines.join("\n"));
  }
});
