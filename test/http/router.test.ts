import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, type TestContext, test } from "node:test";
import * as v from "valibot";
import { AppError } from "../../src/errors.ts";
import { type Endpoint, type RequestHandler, reply } from "../../src/http/endpoint.ts";
import { createRouter } from "../../src/http/router.ts";
import { recordingLog } from "../helpers/log.ts";
import { sendRaw } from "../helpers/raw-http.ts";

const echo: RequestHandler = ({ request, params }) => reply(200, { method: request.method, params });

const endpoint = (method: Endpoint["method"], path: string, handler = echo): Endpoint => ({
  method,
  path,
  summary: "",
  handler,
  response: v.unknown(),
});

const ROUTES = [
  endpoint("GET", "/events"),
  endpoint("GET", "/events/:id"),
  endpoint("DELETE", "/events/:id"),
  endpoint("GET", "/events/:id/payload"),
  endpoint("PUT", "/events/newest"),
  endpoint("GET", "/page/"),
  endpoint("POST", "/"),
  endpoint("GET", "/bot:123/hook"),
  endpoint("*", "/verify"),
  endpoint("GET", "/broken", () => {
    throw new Error("a defect");
  }),
  endpoint("GET", "/refused", () => {
    throw new AppError("queue_full", { retryAfterSeconds: 7 });
  }),
];

/** Requests a target unchanged. Returns the status, the headers and the JSON of the response. */
async function asker(t: TestContext) {
  const { log } = recordingLog();
  const stopping = new AbortController().signal;
  const { listener } = createRouter(ROUTES, { log, trustedProxies: undefined, watchForUnnamedProxy() {}, stopping });
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return async (method: string, target: string) => {
    const { status, text } = await sendRaw(
      port,
      Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, "latin1"),
    );
    const [head = "", body = ""] = text.split("\r\n\r\n");
    return { status, head, json: body === "" ? null : (JSON.parse(body) as Record<string, unknown>) };
  };
}

suite("a router", () => {
  for (const [method, target, params] of [
    ["GET", "/events", {}],
    ["GET", "/events?limit=3", {}],
    ["GET", "/events/evt_1", { id: "evt_1" }],
    ["DELETE", "/events/evt_1", { id: "evt_1" }],
    ["GET", "/events/evt_1/payload", { id: "evt_1" }],
    ["PUT", "/events/newest", {}],
    ["GET", "/events/newest", { id: "newest" }],
    ["GET", "/events/:id", { id: ":id" }],
    ["GET", "/page/", {}],
    ["POST", "/", {}],
    ["GET", "/bot:123/hook", {}],
    ["POST", "/verify", {}],
    ["PATCH", "/verify", {}],
    ["GET", "http://a/events/evt_1", { id: "evt_1" }],
  ] as const) {
    test(`takes ${method} ${target}`, async (t) => {
      const { status, json } = await (await asker(t))(method, target);
      assert.deepEqual([status, json], [200, { method, params }]);
    });
  }

  for (const [sent, id] of [
    ["a%2Fb", "a/b"],
    ["a%252Fb", "a%2Fb"],
    ["%65vt", "evt"],
    ["evt:1", "evt:1"],
    ["%C3%A9%20x", "é x"],
    ["a+b", "a+b"],
    ["a%5Bb%5D", "a[b]"],
    ["a%26b|c", "a&b|c"],
  ] as const) {
    test(`decodes the parameter ${sent} once`, async (t) => {
      const { status, json } = await (await asker(t))("GET", `/events/${sent}`);
      assert.deepEqual([status, json?.params], [200, { id }]);
    });
  }

  for (const target of [
    "/events/",
    "//events",
    "/Events",
    "/%65vents",
    "/x/../events",
    "/./events",
    "/events/.",
    "/events/%2E%2E",
    "/events//payload",
    "/events/evt_1/",
    "/events/evt_1/payload/",
    "/events\\evt_1",
    "/events/%ZZ",
    "/events/a%zz",
    "/events/%2e",
    "/events%2Fevt_1",
    "/events/a\\b",
    "/without-slash/events",
    "/with-slash/page/",
    "/events/%FF",
    "/events;x",
    "/page",
    "/page//",
    "/bot%3A123/hook",
    "/bot%253A123/hook",
    "/botx/hook",
    "/nothing",
    "*",
  ]) {
    test(`finds nothing at ${target}, and does not echo it`, async (t) => {
      const { status, head, json } = await (await asker(t))("GET", target);
      assert.deepEqual([status, json?.code, /^allow:/im.test(head)], [404, "not_found", false]);
      assert.ok(target.length < 3 || !JSON.stringify(json).includes(target));
    });
  }

  for (const target of ["http://a@b/events", "http:///events", "http://a]/events", "http://a\\events/events"]) {
    test(`refuses ${target}, whose host may be another one elsewhere`, async (t) => {
      assert.equal((await (await asker(t))("GET", target)).status, 400);
    });
  }

  for (const [method, target, allow] of [
    ["POST", "/events", "GET, HEAD"],
    ["PUT", "/events/evt_1", "GET, HEAD, DELETE"],
    ["DELETE", "/events/newest", null],
    ["POST", "/events/newest", "GET, HEAD, DELETE, PUT"],
    ["OPTIONS", "/page/", "GET, HEAD"],
  ] as const) {
    test(`answers ${method} ${target} with ${allow === null ? "its endpoint" : `405 and Allow: ${allow}`}`, async (t) => {
      const { status, head } = await (await asker(t))(method, target);
      assert.equal(status, allow === null ? 200 : 405);
      if (allow !== null) assert.equal(/^allow: (.*)$/im.exec(head)?.[1], allow);
    });
  }

  test("answers HEAD as GET, without a body", async (t) => {
    const { status, head, json } = await (await asker(t))("HEAD", "/events/evt_1");
    assert.deepEqual([status, json], [200, null]);
    assert.match(head, /^content-length: [1-9]/im);
  });

  test("turns an error of a handler into a problem, and hides the details of a defect", async (t) => {
    const ask = await asker(t);
    const refused = await ask("GET", "/refused");
    assert.deepEqual([refused.status, refused.json?.code], [503, "queue_full"]);
    assert.match(refused.head, /^retry-after: 7$/im);
    const broken = await ask("GET", "/broken");
    assert.deepEqual([broken.status, broken.json?.code], [500, "internal_error"]);
    assert.ok(!JSON.stringify(broken.json).includes("defect"));
  });
});
