import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { ROUTE_SETTING_NAMES, routesOf } from "../../../src/config/routes.ts";
import { readSettings } from "../../../src/config/settings.ts";
import type { Route } from "../../../src/worker/route.ts";
import { dir, ENVIRONMENT, read, routeIn, routesIn } from "../../helpers/config-file.ts";
import { growsLinearly } from "../../helpers/growth.ts";

mkdirSync(join(dir, "handlers"));
writeFileSync(join(dir, "shape.jsonata"), "$.of_file\n");
writeFileSync(join(dir, "header"), "of a file\n");
writeFileSync(join(dir, "handlers/code.mjs"), "export default async () => {};\n");

/** A route that says nothing but its handler. */
const PLAIN: Route = {
  name: "a",
  sources: null,
  types: [],
  when: [],
  transform: null,
  delayMs: 0,
  orderBy: null,
  whenStuck: "block",
  handler: { kind: "log" },
  timeoutMs: 30_000,
  retry: { attempts: 10, backoff: "exponential", delayMs: 1000, maxDelayMs: 600_000, jitter: 0.2 },
  concurrency: 10,
  ratePerSecond: null,
};

suite("a route", () => {
  test("has what its keys say", () => {
    const [route] = routesIn(
      `
  - name: billing
    source: [shop, default]
    types: ["invoice.*", "!invoice.draft"]
    when: { data.object.livemode: true, data.object.currency: [eur, 7, null], constructor: x }
    http: { url: "https://billing.example/hook?a=b", secret: env:SECRET, timeout: 10s }
    retry: { attempts: 8, backoff: linear, delay: 5s, maxDelay: 1h, jitter: 0, giveUpOn: ["400-499", 501, "!408"] }
    orderBy: data.object.customer
    whenStuck: skip
    concurrency: 1000
    rate: 90/m`,
      { WEBHOOK_SECRET: "the secret of the default source" },
    );
    assert.deepEqual(route, {
      name: "billing",
      sources: ["shop", "default"],
      types: ["invoice.*", "!invoice.draft"],
      when: [
        { on: "member", name: "data.object.livemode", tests: [{ op: "is", values: [true] }] },
        { on: "member", name: "data.object.currency", tests: [{ op: "is", values: ["eur", 7, null] }] },
        { on: "member", name: "constructor", tests: [{ op: "is", values: ["x"] }] },
      ],
      transform: null,
      delayMs: 0,
      orderBy: "data.object.customer",
      whenStuck: "skip",
      handler: { kind: "http", url: "https://billing.example/hook?a=b", key: Buffer.from(ENVIRONMENT.SECRET) },
      timeoutMs: 10_000,
      retry: {
        attempts: 8,
        backoff: "linear",
        delayMs: 5000,
        maxDelayMs: 3_600_000,
        jitter: 0,
        giveUpOn: [
          { from: 400, to: 499, isExcluded: false },
          { from: 501, to: 501, isExcluded: false },
          { from: 408, to: 408, isExcluded: true },
        ],
      },
      concurrency: 1000,
      ratePerSecond: 1.5,
    });
  });

  test("takes every event and has the defaults of the settings", () => {
    assert.deepEqual(routeIn("{ name: a, log: {} }"), PLAIN);
    const settings = {
      RETRY_ATTEMPTS: "3",
      RETRY_BACKOFF: "linear",
      RETRY_DELAY: "20m",
      RETRY_JITTER: "0",
      WORKER_CONCURRENCY: "4",
      HANDLER_TIMEOUT: "5s",
    };
    assert.deepEqual(routeIn("{ name: a, log: {} }", settings), {
      ...PLAIN,
      timeoutMs: 5000,
      retry: { attempts: 3, backoff: "linear", delayMs: 1_200_000, maxDelayMs: 1_200_000, jitter: 0 },
      concurrency: 4,
    });
  });

  for (const [entry, changes] of [
    ["source: shop, types: push", { sources: ["shop"], types: ["push"] }],
    ["concurrency: '7', rate: 100/s", { concurrency: 7, ratePerSecond: 100 }],
    ["rate: 36/h", { ratePerSecond: 0.01 }],
    ["retry: {}", {}],
    ["delay: 5m", { delayMs: 300_000 }],
    ["transform: { jsonata: $.data }", { transform: "$.data" }],
    ["transform: { file: ./shape.jsonata }", { transform: "$.of_file\n" }],
    ["retry: { backoff: linear }", { retry: { ...PLAIN.retry, backoff: "linear", delayMs: 30_000 } }],
    ["retry: { delay: 1h }", { retry: { ...PLAIN.retry, delayMs: 3_600_000, maxDelayMs: 3_600_000 } }],
    ["retry: { attempts: '1', jitter: '1' }", { retry: { ...PLAIN.retry, attempts: 1, jitter: 1 } }],
    [
      "retry: { delays: [1s, 1m, 24h], jitter: 0.1 }",
      { retry: { attempts: 4, backoff: "list", delaysMs: [1000, 60_000, 86_400_000], jitter: 0.1 } },
    ],
  ] as const) {
    test(`takes ${entry}`, () => assert.deepEqual(routeIn(`{ name: a, log: {}, ${entry} }`), { ...PLAIN, ...changes }));
  }

  test("may have the name of the route that there is without routes", () =>
    assert.equal(routeIn("{ name: default, log: {} }").name, "default"));
});

suite("a handler", () => {
  for (const [entry, handler, timeoutMs] of [
    ["to: http://127.0.0.1:8080/", { kind: "http", url: "http://127.0.0.1:8080/", key: null }, 30_000],
    [
      `http: { url: http://h/, method: PUT, headers: { Authorization: "Bearer \${env:SECRET}!", x-file: "\${file:header}", x-fixed: "1" } }`,
      {
        kind: "http",
        url: "http://h/",
        key: null,
        method: "PUT",
        headers: { Authorization: `Bearer ${ENVIRONMENT.SECRET}!`, "x-file": "of a file", "x-fixed": "1" },
      },
      30_000,
    ],
    [
      "http: { url: http://h/, signWith: github, secret: env:SECRET }",
      { kind: "http", url: "http://h/", key: null, signWith: { preset: "github", secret: ENVIRONMENT.SECRET } },
      30_000,
    ],
    ["http: { url: http://h/ }", { kind: "http", url: "http://h/", key: null }, 30_000],
    [
      "exec: { command: [deploy, --now, ''], timeout: 5m }",
      { kind: "exec", command: ["deploy", "--now", ""], folder: dir },
      300_000,
    ],
    ["exec: { command: [./bin/x] }", { kind: "exec", command: [join(dir, "bin/x")], folder: dir }, 30_000],
    ["exec: { command: [/bin/x, ./y] }", { kind: "exec", command: ["/bin/x", "./y"], folder: dir }, 30_000],
    [
      "module: { file: ./handlers/code.mjs, timeout: 1ms }",
      { kind: "module", file: join(dir, "handlers/code.mjs") },
      1,
    ],
  ] as const) {
    test(`is ${entry}`, () => {
      const route = routeIn(`{ name: a, ${entry} }`);
      assert.deepEqual(route, { ...PLAIN, handler, timeoutMs });
    });
  }

  for (const [what, value, key] of [
    ["base64 after whsec_", `whsec_${Buffer.alloc(24, 7).toString("base64")}`, Buffer.alloc(24, 7)],
    ["text", "sixteen letters.", Buffer.from("sixteen letters.")],
    ["text that is base64", "c2l4dGVlbiBsZXR0ZXJz", Buffer.from("c2l4dGVlbiBsZXR0ZXJz")],
  ] as const) {
    test(`signs with a secret of ${what}`, () => {
      writeFileSync(join(dir, "secret"), `${value}\n`);
      const handler = { kind: "http", url: "http://h/", key };
      assert.deepEqual(routeIn("{ name: a, http: { url: http://h/, secret: file:secret } }").handler, handler);
      const settings = readSettings({ FORWARD_URL: "http://h/", FORWARD_SECRET: value }, ROUTE_SETTING_NAMES);
      assert.deepEqual(routesOf(settings, null)[0]?.handler, handler);
    });
  }
});

suite("without routes there is one", () => {
  const routes = (environment: Record<string, string>, yaml = "sources: {}\n") =>
    routesOf(readSettings(environment, ROUTE_SETTING_NAMES), read(yaml, environment));

  test("which logs each event", () => {
    const expected = [{ ...PLAIN, name: "default" }];
    assert.deepEqual(routes({}), expected);
    assert.deepEqual(routesOf(readSettings({}, ROUTE_SETTING_NAMES), null), expected);
  });

  test("which posts each event to FORWARD_URL", () => {
    const handler = { kind: "http", url: "http://h/", key: null };
    assert.deepEqual(routes({ FORWARD_URL: "http://h/" }), [{ ...PLAIN, name: "default", handler }]);
  });
});

test("the file knows its modules and the names of its secrets", () => {
  const file = read(`sources:
  shop: { preset: github, secrets: [env:SECRET, file:secret] }
routes:
  - { name: a, http: { url: http://h/, secret: env:OTHER } }
  - { name: b, http: { url: http://h/, secret: env:OTHER } }
  - { name: c, module: { file: handlers/code.mjs } }
  - { name: d, module: { file: ./handlers/../handlers/code.mjs } }
`);
  assert.deepEqual(file?.modules, [join(dir, "handlers/code.mjs")]);
  assert.deepEqual(file?.secretNames.toSorted(), ["OTHER", "SECRET"]);
  assert.deepEqual(read("sources: {}\n")?.routes, null);
});

test("the time to read routes grows with their number, not with its square", () => {
  growsLinearly(250, (routes) => {
    const text = Array.from({ length: routes }, (_, i) => `  - { name: r${i}, source: shop, to: http://h/ }`).join(
      "\n",
    );
    return () => assert.equal(routesIn(text).length, routes);
  });
});
