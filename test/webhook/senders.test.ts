import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import { formatMultipart } from "../../src/lib/multipart.ts";
import { faults } from "../helpers/config-file.ts";
import { serveSource } from "../helpers/serve-source.ts";

const SECRET = "a secret of the tests";
const SIGNED = { Authorization: `Bearer ${SECRET}` };
const BY_TOKEN = 'verify: { type: token, header: authorization, prefix: "Bearer " }, secrets: [env:SECRET]';
const faultsOf = (entry: string) => faults(`sources:\n  shop: ${entry}\n`);
const textOf = (event: { payload: Uint8Array } | undefined) => Buffer.from(event?.payload ?? []).toString();

suite("methods", () => {
  test("with GET the query is the payload, a form, and its fields are members", async (t) => {
    const { send, stored } = await serveSource(t, `{ ${BY_TOKEN}, methods: [GET, POST], id: body:messageId }`);
    const { status } = await send({ headers: SIGNED }, "?messageId=0A1&text=Hello+World");
    assert.equal(status, 200);
    assert.equal(textOf(stored[0]), "messageId=0A1&text=Hello+World");
    assert.equal(stored[0]?.contentType, "application/x-www-form-urlencoded");
    assert.equal(stored[0]?.eventId, "0A1");
    const body = { method: "POST", body: "{}", headers: { ...SIGNED, "Content-Type": "application/json" } };
    assert.equal((await send(body)).status, 200);
    assert.equal((await send({ method: "PUT" })).status, 405);
  });

  test("with GET the query is a form, whatever the request says of a body", async (t) => {
    const { send, stored } = await serveSource(t, `{ ${BY_TOKEN}, methods: [GET], redact: [text] }`);
    const headers = { ...SIGNED, "Content-Type": "application/json" };
    assert.equal((await send({ headers }, "?messageId=0A1&text=Hello")).status, 200);
    assert.equal(stored[0]?.contentType, "application/x-www-form-urlencoded");
    assert.equal(textOf(stored[0]), "messageId=0A1&text=%5Bredacted%5D");
  });

  test("a secret in the query is not stored", async (t) => {
    const { send, stored } = await serveSource(t, "{ preset: azure_eventgrid, secrets: [env:SECRET], methods: [GET] }");
    assert.equal((await send({}, `?a=1&code=${encodeURIComponent(SECRET)}&b=2`)).status, 200);
    assert.equal(textOf(stored[0]), "a=1&b=2");
    assert.equal((await send({}, "?a=1&code=another")).status, 403);
    assert.equal(stored.length, 1);
  });

  test("PUT and PATCH have a body, and HEAD has the query", async (t) => {
    const { send, stored } = await serveSource(t, `{ ${BY_TOKEN}, methods: [PUT, PATCH, HEAD] }`);
    const headers = { ...SIGNED, "Content-Type": "application/json" };
    for (const method of ["PUT", "PATCH"]) assert.equal((await send({ method, body: '{"a":1}', headers })).status, 200);
    assert.equal((await send({ method: "HEAD", headers: SIGNED }, "?a=1")).status, 200);
    assert.deepEqual(stored.map(textOf), ['{"a":1}', '{"a":1}', "a=1"]);
    assert.equal((await send({ method: "POST", body: "{}", headers })).status, 405);
  });

  test("a method by which the handshake comes is an error of the file", () => {
    const found = faultsOf("{ preset: nylas, secrets: [env:SECRET], handshake: true, methods: [GET, POST] }");
    assert.match(found.join("\n"), /methods\.0: found GET, by which the handshake comes/);
  });
});

suite("a path", () => {
  const delivery = { method: "POST", body: "{}", headers: { ...SIGNED, "Content-Type": "application/json" } };

  for (const [path, ...others] of [
    ["/", "//", "/x"],
    ["/hook/", "/hook", "/hook//"],
    ["/bot:123/hook", "/bot:123/hook/", "/bot%3A123/hook", "/bot1/hook"],
  ] as const) {
    test(`may be ${path}, and is no other`, async (t) => {
      const { send, url, stored } = await serveSource(t, `{ ${BY_TOKEN}, path: "${path}" }`);
      assert.equal((await send(delivery)).status, 200);
      for (const other of others) assert.equal((await fetch(new URL(url).origin + other, delivery)).status, 404, other);
      assert.equal(stored.length, 1);
    });
  }

  test("that ends with a slash may have a secret behind it", async (t) => {
    const entry = "{ verify: { type: token, path: true }, secrets: [env:SECRET], path: /hook/ }";
    const { send, lines } = await serveSource(t, entry);
    assert.equal((await send(delivery, encodeURIComponent(SECRET))).status, 200);
    assert.equal((await send(delivery, "another")).status, 403);
    assert.ok(lines.some(({ path }) => path === "/hook/…"));
  });
});

suite("answer", () => {
  test("a source answers as it says, after the event is stored", async (t) => {
    const answer = "answer: { status: 202, type: text/xml, body: <ok/> }";
    const { send, stored } = await serveSource(t, `{ ${BY_TOKEN}, ${answer} }`);
    const body = { method: "POST", body: "{}", headers: { ...SIGNED, "Content-Type": "application/json" } };
    const { status, headers, text } = await send(body);
    assert.deepEqual([status, headers.get("content-type"), text], [202, "text/xml", "<ok/>"]);
    assert.equal(stored.length, 1);
    assert.equal((await send({ ...body, headers: { "Content-Type": "application/json" } })).status, 403);
  });

  test("with status 204 there is no body, and one in the file is an error", async (t) => {
    const { send } = await serveSource(t, `{ ${BY_TOKEN}, answer: { status: 204 } }`);
    const { status, text } = await send({
      method: "POST",
      body: "{}",
      headers: { ...SIGNED, "Content-Type": "application/json" },
    });
    assert.deepEqual([status, text], [204, ""]);
    const found = faultsOf(`{ ${BY_TOKEN}, answer: { status: 204, body: ok } }`);
    assert.match(found.join("\n"), /answer: .*expected no body beside status 204 or 205/);
  });
});

suite("Basic authentication", () => {
  test("a delivery without credentials is asked for them", async (t) => {
    const { send, stored } = await serveSource(t, "{ verify: { type: basic }, secrets: [env:BASIC] }");
    const delivery = (headers: Record<string, string> = {}) =>
      send({ method: "POST", body: "{}", headers: { "Content-Type": "application/json", ...headers } });
    const refused = await delivery();
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get("www-authenticate") ?? "", /^Basic realm="/);
    const credentials = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString("base64")}` });
    assert.equal((await delivery(credentials("user:wrong"))).status, 401);
    assert.equal((await delivery(credentials("user:a password of the tests"))).status, 200);
    assert.equal(stored.length, 1);
  });
});

suite("a token", () => {
  const json = { method: "POST", body: '{"a":1}', headers: { "Content-Type": "application/json" } };

  test("in the path is behind that of the source, and is not logged", async (t) => {
    const { send, stored, lines } = await serveSource(
      t,
      "{ verify: { type: token, path: true }, secrets: [env:SECRET] }",
    );
    assert.equal((await send(json, `/${encodeURIComponent(SECRET)}`)).status, 200);
    assert.equal((await send(json, `/${encodeURIComponent(SECRET)}?a=/b`)).status, 200);
    assert.equal(stored.length, 2);
    assert.equal((await send(json, "/another")).status, 403);
    for (const other of ["", "/", `/${encodeURIComponent(SECRET)}/`, `/a/${encodeURIComponent(SECRET)}`])
      assert.equal((await send(json, other)).status, 404, other);
    assert.doesNotMatch(JSON.stringify(lines), /a%20secret|a secret/);
    assert.ok(lines.some(({ path }) => path === "/webhook/shop/…"));
  });

  for (const [place, body, type] of [
    ["a member of the body", `{"data":{"token":"${SECRET}"}}`, "application/json"],
    [
      "a field of a form",
      new URLSearchParams({ "data.token": SECRET }).toString(),
      "application/x-www-form-urlencoded",
    ],
    [
      "the JSON in a form",
      String(new URLSearchParams({ data: `{"data":{"token":"${SECRET}"}}` })),
      "application/x-www-form-urlencoded",
    ],
    ["a part", formatMultipart([["data.token", SECRET]], "b"), "multipart/form-data; boundary=b"],
  ] as const) {
    test(`may be in ${place}`, async (t) => {
      const verify = 'verify: { type: token, body: data.token }, contentTypes: ["*/*"]';
      const { send } = await serveSource(t, `{ ${verify}, secrets: [env:SECRET] }`);
      const delivery = { method: "POST", body, headers: { "Content-Type": type } };
      assert.equal((await send(delivery)).status, 200);
      assert.equal((await send({ ...delivery, body: body.replace("tests", "other") })).status, 403);
    });
  }
});

suite("a signature", () => {
  test("may be HMAC-MD5", async (t) => {
    const { send } = await serveSource(t, "{ verify: { header: x-sig, algorithm: md5 }, secrets: [env:SECRET] }");
    const signed = (body: string) => ({
      method: "POST",
      body: "{}",
      headers: { "Content-Type": "application/json", "X-Sig": createHmac("md5", SECRET).update(body).digest("hex") },
    });
    assert.equal((await send(signed("{}"))).status, 200);
    assert.equal((await send(signed("[]"))).status, 403);
  });

  test("may be in a field of a form, and of another", async (t) => {
    const verify = 'verify: { in: form:sign, signed: "{form:payload}" }, contentTypes: [multipart/form-data]';
    const { send, stored } = await serveSource(t, `{ ${verify}, secrets: [env:SECRET], type: body:event }`);
    const payload = '{"event":"paid"}';
    const sent = (signed: string) => ({
      method: "POST",
      headers: { "Content-Type": "multipart/form-data; boundary=b" },
      body: formatMultipart(
        [
          ["payload", payload],
          ["sign", createHmac("sha256", SECRET).update(signed).digest("hex")],
        ],
        "b",
      ),
    });
    assert.equal((await send(sent(payload))).status, 200);
    assert.equal(stored[0]?.type, "paid");
    assert.equal((await send(sent("other"))).status, 403);
  });
});

suite("what a verified sender sends is kept", () => {
  const post = (body: string | Buffer, contentType: string): RequestInit => ({
    method: "POST",
    body,
    headers: { ...SIGNED, "Content-Type": contentType },
  });
  for (const [what, body, contentType, eventId, fault] of [
    ["a byte order mark", '\ufeff{"id":"e1","type":"a"}', "application/json; charset=utf-8", "e1", /byte order mark/],
    ["a member twice", '{"id":"e1","type":"a","x":1,"x":2}', "application/json", "e1", /twice/],
    ["NaN", '{"id":"e1","type":"a","x":NaN}', "application/json", "e1", /not JSON/],
    [
      "Latin-1",
      Buffer.from('{"id":"\xe9","type":"a"}', "latin1"),
      "application/json; charset=ISO-8859-1",
      "é",
      /iso-8859-1/,
    ],
    ["no JSON at all", "{", "application/json", null, /not JSON/],
    ["an empty body", "", "application/json", null, /empty/],
  ] as const) {
    test(what, async (t) => {
      const { send, stored, named } = await serveSource(t, `{ ${BY_TOKEN} }`);
      const { status, text } = await send(post(body, contentType));
      assert.equal(status, 200, text);
      assert.deepEqual(Buffer.from(stored[0]?.payload ?? []), Buffer.from(body as string));
      if (eventId === null) assert.match(stored[0]?.eventId ?? "", /^sha256:/);
      else assert.equal(stored[0]?.eventId, eventId);
      assert.match(String(named("delivery_malformed")[0]?.fault), fault);
    });
  }

  test("JSON Lines have their values as members", async (t) => {
    const entry = `{ ${BY_TOKEN}, contentTypes: [application/x-ndjson], id: body:0.id }`;
    const { send, stored, named } = await serveSource(t, entry);
    assert.equal((await send(post('{"id":"a"}\n{"id":"b"}\n', "application/x-ndjson"))).status, 200);
    assert.equal(stored[0]?.eventId, "a");
    assert.equal(named("delivery_malformed").length, 0);
  });
});

suite("a refused request is logged with the reason and what was sent", () => {
  for (const [what, headers, reason, sent] of [
    ["no content type", {}, "no_content_type", undefined],
    ["another one", { "Content-Type": "text/plain" }, "content_type", "text/plain"],
    ["a coding", { "Content-Type": "application/json", "Content-Encoding": "br" }, "content_encoding", "br"],
  ] as const) {
    test(what, async (t) => {
      const { send, named } = await serveSource(t, `{ ${BY_TOKEN} }`);
      const { status } = await send({ method: "POST", body: Buffer.from("{}"), headers: { ...SIGNED, ...headers } });
      assert.equal(status, 415);
      const [line] = named("request_completed");
      assert.deepEqual([line?.reason, line?.sent], [reason, sent]);
    });
  }
});
