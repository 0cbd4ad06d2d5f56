import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as v from "valibot";
import { readJson, readRawBody, refuseBody, requireJson } from "../../src/http/body.ts";
import { failsWith, throwsCode } from "../helpers/fails-with.ts";
import { openRequest, requestWith, requestWithBody } from "../helpers/requests.ts";
import { until } from "../helpers/until.ts";

const JSON_TYPE = ["Content-Type", "application/json"] as const;
const CHUNKED = ["Transfer-Encoding", "chunked"] as const;
const Body = v.object({ name: v.pipe(v.string("must be a string"), v.minLength(1, "must not be empty")) });

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

suite("a content type", () => {
  for (const type of [
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
    "application/json; profile=x",
  ]) {
    test(`${type} is accepted`, async () =>
      assert.equal(requireJson(await requestWith([["Content-Type", type]])), undefined));
  }

  for (const type of [
    "",
    "text/plain",
    "text/json",
    "application/jsonp",
    "application/json-patch+json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "application/json; charset=latin1",
    "application/json; charset=utf-8; charset=utf-16",
    "application/json; charset = utf-16",
    "text/plain; application/json",
  ]) {
    test(`${JSON.stringify(type)} is unsupported`, async () => {
      const request = await requestWith([["Content-Type", type]]);
      throwsCode("unsupported_media_type", () => requireJson(request));
    });
  }

  test("that is missing is unsupported", async () => {
    const request = await requestWith([]);
    throwsCode("unsupported_media_type", () => requireJson(request));
  });

  test("with a content encoding is unsupported", async () => {
    for (const encoding of ["gzip", "br", "identity"]) {
      const request = await requestWith([JSON_TYPE, ["Content-Encoding", encoding]]);
      throwsCode("unsupported_media_type", () => requireJson(request));
    }
  });
});

suite("a raw body", () => {
  test("is the bytes that were sent", async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 195, 40]);
    assert.deepEqual(await readRawBody(await requestWithBody(bytes), 6), bytes);
  });

  test("may be empty", async () => assert.equal((await readRawBody(await requestWithBody(""), 1)).length, 0));

  test("is joined from chunks", async () => {
    const request = await requestWith([CHUNKED], { body: `${chunk("ab")}${chunk("cd")}0\r\n\r\n` });
    assert.equal((await readRawBody(request, 4)).toString(), "abcd");
  });

  test("announced as too large is refused before it arrives", async () => {
    const request = await requestWith([["Content-Length", "11"]]);
    await failsWith("payload_too_large", readRawBody(request, 10));
  });

  test("that is too large is refused, even if all its chunks have arrived", async () => {
    const request = await requestWith([CHUNKED], { body: `${chunk("12345")}${chunk("123456")}0\r\n\r\n` });
    await until(() => request.complete);
    await failsWith("payload_too_large", readRawBody(request, 10));
  });

  test("that arrived in several chunks is the bytes that were sent", async () => {
    const body = `${["ab", "cd", "ef"].map(chunk).join("")}0\r\n\r\n`;
    const request = await requestWith([CHUNKED], { body });
    await until(() => request.complete);
    assert.equal((await readRawBody(request, 6)).toString(), "abcdef");
  });

  test("in endless chunks is refused as soon as it is too large", async () => {
    const { client, request } = openRequest([CHUNKED], { body: chunk("12345") });
    const reading = readRawBody(await request, 10);
    client.write(chunk("123456"));
    await failsWith("payload_too_large", reading);
  });

  test("that was aborted before it was read is a bad request", async () => {
    const { client, request } = openRequest([["Content-Length", "10"]], { body: "12345" });
    const received = await request;
    const closed = new Promise((resolve) => received.on("error", () => {}).on("close", resolve));
    client.destroy();
    await closed;
    await failsWith("bad_request", readRawBody(received, 10));
  });

  test("on a broken connection is a bad request at once, even if it arrived completely", async () => {
    const { client, request } = openRequest([["Content-Length", "5"]], { body: "12345" });
    const received = await request;
    await until(() => received.complete);
    const closed = new Promise((resolve) => received.on("close", resolve));
    client.destroy();
    await closed;
    await failsWith("bad_request", readRawBody(received, 10));
  });

  test("that is aborted is a bad request", async () => {
    const { client, request } = openRequest([["Content-Length", "10"]], { body: "12345" });
    const reading = readRawBody(await request, 10);
    client.destroy();
    await failsWith("bad_request", reading);
  });
});

suite("a JSON body", () => {
  const read = async (text: string, limit = 1000) => readJson(await requestWithBody(text, [JSON_TYPE]), Body, limit);

  test("of the declared shape is returned", async () => {
    assert.deepEqual(await read('{"name":"ñ"}'), { name: "ñ" });
  });

  test("has an error for each unknown member, up to twenty", async () => {
    const { errors } = await failsWith(
      "validation_failed",
      read('{"name":1,"role":1,"constructor":{},"__proto__":[]}'),
    );
    assert.deepEqual(
      errors?.map(({ path }) => path),
      ["role", "constructor", "__proto__", "name"],
    );
    const many = Array.from({ length: 50 }, (_, number) => `"m${number}":0`).join();
    assert.equal((await failsWith("validation_failed", read(`{"name":"a",${many}}`))).errors?.length, 20);
  });

  test("is refused by type before size, and by size before content", async () => {
    const plain = await requestWithBody("x".repeat(20), [["Content-Type", "text/plain"]]);
    await failsWith("unsupported_media_type", readJson(plain, Body, 10));
    await failsWith("payload_too_large", read("x".repeat(20), 10));
  });

  for (const text of [
    "",
    "{",
    '{"name":"a","name":"b"}',
    '{"name":"a","n\\u0061me":"b"}',
    "\ufeff{}",
    "[".repeat(1000),
  ]) {
    test(`that is not strict JSON (${text.slice(0, 20)}) is malformed`, async () => {
      await failsWith("malformed_json", read(text));
    });
  }

  for (const [text, path] of [
    ["null", ""],
    ['"x"', ""],
    ["1", ""],
    ["{}", "name"],
    ['{"name":1}', "name"],
    ['{"name":["a"]}', "name"],
    ['{"name":""}', "name"],
    ['{"name":"a","other":1}', "other"],
    ['{"name":"a","constructor":1}', "constructor"],
    ['{"name":"a","toString":1}', "toString"],
    ['{"name":"a","__proto__":{"x":1}}', "__proto__"],
    ['{"__proto__":{"name":"a"}}', "__proto__"],
  ] as const) {
    test(`${text} fails validation at ${path === "" ? "the top" : path}`, async () => {
      const error = await failsWith("validation_failed", read(text));
      assert.equal(error.errors?.[0]?.path, path);
    });
  }

  test("that is an array is refused, whatever it holds", async () => {
    for (const text of ["[]", '[{"name":"a"}]']) await failsWith("validation_failed", read(text));
  });

  test("is never echoed in the errors", async () => {
    const error = await failsWith("validation_failed", read('{"name":12345678}'));
    assert.ok(!JSON.stringify(error.errors).includes("12345678"));
  });
});

suite("an operation without a body", () => {
  for (const text of ["", "{}", " { } \n"]) {
    test(`accepts ${JSON.stringify(text)} as an empty body`, async () => {
      assert.equal(await refuseBody(await requestWithBody(text, [JSON_TYPE])), undefined);
    });
  }

  for (const [text, headers] of [
    ["{}", []],
    ["{}", [["Content-Type", "text/plain"]]],
    ["{}", [JSON_TYPE, ["Content-Encoding", "gzip"]]],
    ["{}", [["Content-Type", `application/json;${" ".repeat(300)}a=b`]]],
  ] as const) {
    test(`refuses ${text} that is sent with ${JSON.stringify(headers)}`, async () => {
      await failsWith("unsupported_media_type", refuseBody(await requestWithBody(text, headers)));
    });
  }

  test("refuses whitespace that JSON does not allow", async () => {
    const text = Buffer.from([0xa0]);
    await failsWith("validation_failed", refuseBody(await requestWithBody(text, [JSON_TYPE])));
  });

  test("needs no length header", async () => assert.equal(await refuseBody(await requestWith([])), undefined));

  for (const text of ['{"a":1}', "[]", "x", "null"]) {
    test(`refuses ${text}`, async () => {
      await failsWith("validation_failed", refuseBody(await requestWithBody(text, [JSON_TYPE])));
    });
  }

  test("refuses a large body", async () => {
    await failsWith("payload_too_large", refuseBody(await requestWithBody(" ".repeat(2000))));
  });
});
