import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { formatMultipart } from "../../../src/lib/multipart.ts";
import { FORM, MULTIPART, openContent } from "../../../src/webhook/content/content.ts";
import { DEFAULT_SCHEMES } from "../../../src/webhook/default-source.ts";
import type { Verified } from "../../../src/webhook/signature/bound-scheme.ts";
import type { Place } from "../../../src/webhook/signature/schemes.ts";
import { identify } from "../../../src/webhook/stages/identity.ts";
import { secretOf } from "../../helpers/secret.ts";

const JSON_TYPE = "application/json";
const LINES = "application/x-ndjson";
const STRUCTURED = [JSON_TYPE, LINES, FORM, MULTIPART];
const PARTS = `${MULTIPART}; boundary="cut"`;

const NAMES = ["application/json", "application/hal+json", "text/plain", "application/xml", LINES, FORM, PARTS];
const OTHER_NAMES = [
  "application/json; charset=utf-16le",
  `${MULTIPART}; boundary=other`,
  MULTIPART,
  `${LINES}; charset=latin1`,
];

const SIGNED = { body: true, members: [], headers: [] };

function identityOf(
  body: string | Buffer,
  sentAs: string,
  { contentTypes = STRUCTURED, id = "body:id" as Place, covers = SIGNED as Verified["covers"] } = {},
) {
  const [scheme] = DEFAULT_SCHEMES;
  assert.ok(scheme);
  return identify({
    source: { id: [id], type: ["body:type"], preset: null, dedupe: "bytes", contentTypes },
    verified: { scheme, secret: secretOf(""), covers },
    headers: { "x-request-id": "r" },
    content: openContent(Buffer.from(body), sentAs),
  });
}

suite("a signed body is one event, whatever its Content-Type says", () => {
  const fields = [
    ["id", "evt_1"],
    ["type", "t"],
  ] as const;
  for (const [what, body, rightType, id = "body:id"] of [
    ["a form", "id=evt_1&type=t", FORM],
    ["a form that is not quite encoded", "id=evt_1&type=t&text=some words, <b>", FORM],
    ["a form with JSON in it", 'type=t&payload={"id":"evt_1"}', FORM],
    ["JSON Lines", '{"id":"evt_1","type":"t"}\n{"id":"evt_2"}\n', LINES, "body:0.id"],
    ["a single line of JSON", '{"id":"evt_1","type":"t"}', LINES, "body:0.id"],
    ["JSON on several lines", '{\n"id": "evt_1",\n"type": "t"\n}', JSON_TYPE],
    ["JSON with a member twice", '{"id":"evt_0","id":"evt_1","type":"t"}', JSON_TYPE],
    ["several parts", formatMultipart(fields, "cut"), PARTS],
    ["several parts behind a text", `preamble\r\n${formatMultipart(fields, "cut")}`, PARTS],
    [
      "several parts with those of another boundary in them",
      formatMultipart([...fields, ["note", `\r\n${formatMultipart([["id", "evt_2"]], "other")}`]], "cut"),
      PARTS,
    ],
  ] as const) {
    test(what, () => {
      const right = identityOf(body, rightType, { id });
      assert.deepEqual(
        [right.eventId, right.isSigned, right.bytesSha256, right.contentType],
        ["evt_1", true, null, null],
      );
      for (const sentAs of [...NAMES, ...OTHER_NAMES]) {
        const { eventId, type, isSigned } = identityOf(body, sentAs, { id });
        assert.deepEqual([eventId, type, isSigned], ["evt_1", right.type, true], sentAs);
      }
    });
  }

  test("also where the source takes any type, if the body has the shape of a form", () => {
    for (const contentTypes of [["*/*"], [FORM, "text/plain"]])
      for (const sentAs of NAMES)
        assert.equal(identityOf("id=evt_1&text=a+b%20%C3%A9", sentAs, { contentTypes }).eventId, "evt_1", sentAs);
  });
});

test("an event has the Content-Type of its bytes, if it was sent under one that cannot be read", () => {
  const contentTypeOf = (body: string, sentAs: string) => identityOf(body, sentAs).contentType;
  assert.equal(contentTypeOf("id=evt_1", JSON_TYPE), FORM);
  assert.equal(contentTypeOf("id=evt_1", FORM), null);
  assert.equal(contentTypeOf("no form at all", JSON_TYPE), null);
  for (const text of ["42", '"text"', "true\nfalse"])
    assert.equal(identityOf(text, "text/plain", { contentTypes: ["*/*"] }).contentType, null);
  assert.equal(contentTypeOf('{"id":1}\n{"id":2}', JSON_TYPE), LINES);
  assert.equal(contentTypeOf('{"id":1}\n{"id":2}', "application/jsonl"), null);
  assert.equal(contentTypeOf('{"id":1}', JSON_TYPE), null);
  assert.equal(contentTypeOf(formatMultipart([["id", "1"]], "cut"), `${MULTIPART}; boundary=other`), PARTS);
  assert.equal(contentTypeOf(formatMultipart([["id", "1"]], "cut"), `${MULTIPART}; boundary=cut`), null);
});

suite("a body is read as it was sent", () => {
  const isAsSent = (body: string | Buffer, sentAs: string, options: Parameters<typeof identityOf>[2]) =>
    assert.equal(identityOf(body, sentAs, options).eventId, "r", sentAs);

  test("if the source takes no form", () => {
    isAsSent("id=evt_1", JSON_TYPE, { contentTypes: [JSON_TYPE] });
    isAsSent('{"id":"evt_1"}\n{}', JSON_TYPE, { contentTypes: [JSON_TYPE, FORM], id: "body:0.id" });
  });

  test("if it is a text or XML with what could be a field, at a source that takes these", () => {
    for (const [sentAs, text] of [
      ["text/plain", "see https://example.com/?a=1&id=5&b=2"],
      ["text/plain", "https://example.com/?a=1&id=5&b=2"],
      ["application/xml", "<a href='x?y=1&id=5&z'/>"],
    ] as const)
      isAsSent(text, sentAs, { contentTypes: ["*/*"] });
  });

  test("if its signature does not cover it, but fields of it", () => {
    const covers = { body: false, members: ["id"], headers: [] };
    isAsSent("id=evt_1", JSON_TYPE, { covers });
  });

  test("if it is JSON that is broken", () => {
    const body = '{"a":"https://example.com/?b=1&id=5&type=t"';
    isAsSent(body, JSON_TYPE, {});
    assert.equal(identityOf(body, JSON_TYPE).contentType, null);
  });

  test("if it is not in UTF-8", () => {
    const body = Buffer.from('{"id":"é","type":"t"}', "latin1");
    assert.equal(identityOf(body, `${JSON_TYPE}; charset=latin1`).eventId, "é");
  });
});
