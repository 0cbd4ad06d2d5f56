import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { openContent } from "../../../src/webhook/content/content.ts";
import { DEFAULT_SCHEMES } from "../../../src/webhook/default-source.ts";
import { providerOf } from "../../../src/webhook/providers/index.ts";
import type { Verified } from "../../../src/webhook/signature/bound-scheme.ts";
import type { IdPlace, Place } from "../../../src/webhook/signature/schemes.ts";
import { identify } from "../../../src/webhook/stages/identity.ts";
import { requirePayload } from "../../../src/webhook/stages/payload.ts";
import { throwsCode } from "../../helpers/fails-with.ts";
import { secretOf } from "../../helpers/secret.ts";

const ENVELOPE = {
  id: "evt_1",
  object: "event",
  api_version: "2026-01-01",
  created: 1_800_000_000,
  data: { object: { id: "pi_1", object: "payment_intent", amount: 100, currency: "eur", status: "succeeded" } },
  livemode: false,
  type: "payment_intent.succeeded",
};

const JSON_ONLY = { preset: null, contentTypes: ["application/json"], isEnvelope: true, schemes: [] };

const contentOf = (value: unknown) => openContent(Buffer.from(JSON.stringify(value)), "application/json");
const check = (value: unknown) => requirePayload(JSON_ONLY, contentOf(value));

suite("a payload", () => {
  test("that is an envelope is accepted", () => check(ENVELOPE));

  test('without "object": "event" may be any object', () => {
    for (const value of [{}, { action: "opened", number: 1 }, { object: "other" }, { id: 5, type: null }]) {
      check(value);
    }
  });

  for (const value of [null, [], [ENVELOPE], "event", 1, true]) {
    test(`that is ${JSON.stringify(value).slice(0, 10)} is invalid`, () => {
      throwsCode("invalid_payload", () => check(value));
    });
  }

  for (const text of ["", "{", "{'a':1}", '{"a":1,"a":2}', "\ufeff{}", "a=1&b=2"]) {
    test(`that is not strict JSON (${text}) is invalid`, () => {
      throwsCode("invalid_payload", () =>
        requirePayload(JSON_ONLY, openContent(Buffer.from(text), "application/json")),
      );
    });
  }

  for (const [path, values] of Object.entries({
    id: [undefined, "", 1, null, ["evt_1"]],
    type: [undefined, "", 1, {}],
    created: [undefined, "1800000000", 1.5, null, 1e300],
    livemode: [undefined, "false", 0, null],
    "data.object": [undefined, null, [], "x"],
  })) {
    test(`that is an envelope needs ${path}; the error names it without its value`, () => {
      for (const value of values) {
        const changed = path === "data.object" ? { data: { object: value } } : { [path]: value };
        const error = throwsCode("invalid_payload", () => check({ ...ENVELOPE, ...changed }));
        assert.equal(error.errors?.length, 1);
        assert.equal(error.errors[0]?.path, path);
      }
    });
  }

  test("that is an envelope needs data to be an object", () => {
    for (const data of [undefined, null, "x", []]) throwsCode("invalid_payload", () => check({ ...ENVELOPE, data }));
  });
});

suite("a payload of a source with a preset", () => {
  const source = {
    preset: "shopify",
    contentTypes: ["application/json", "text/plain"],
    isEnvelope: false,
    schemes: [],
  };

  test("may be any JSON, and any text if it is not JSON", () => {
    for (const value of [[], "event", { ...ENVELOPE, id: undefined }]) requirePayload(source, contentOf(value));
    requirePayload(source, openContent(Buffer.from("{"), "text/plain"));
  });

  for (const text of ["", "{", "{'a':1}", '{"a":1,"a":2}', "\ufeff{}", '{"a":NaN}']) {
    test(`is kept though it is not strict JSON (${text})`, () => {
      const content = openContent(Buffer.from(text), "application/json");
      requirePayload(source, content);
      assert.notEqual(content.fault(), null);
    });
  }

  test("may be any bytes if the source takes every media type", () => {
    for (const type of ["", "application/json", "image/png"]) {
      requirePayload(
        { preset: null, contentTypes: ["*/*"], isEnvelope: false, schemes: [] },
        openContent(Buffer.from([0xff, 0]), type),
      );
    }
  });
});

suite("a payload that is an envelope of OpenAI", () => {
  const COMPLETE = { id: "evt_1", object: "event", created_at: 1_800_000_000, type: "response.completed", data: {} };

  test("is accepted", () => check(COMPLETE));

  for (const [path, values] of Object.entries({
    id: [undefined, "", 1],
    type: [undefined, "", 1],
    created_at: ["1800000000", 1.5, null],
    data: [undefined, null, [], "x"],
  })) {
    test(`needs ${path}`, () => {
      for (const value of values) {
        const error = throwsCode("invalid_payload", () => check({ ...COMPLETE, [path]: value }));
        assert.deepEqual(
          error.errors?.map((found) => found.path),
          [path],
        );
      }
    });
  }

  test("is checked as one of Stripe if it also has created", () => {
    throwsCode("invalid_payload", () => check({ ...COMPLETE, created: 1_800_000_000 }));
  });
});

/** A delivery verified with the default source's scheme of a header. */
const by = (header: string): Verified => {
  const scheme = DEFAULT_SCHEMES.find(
    (candidate) =>
      candidate.type === "hmac" && "headers" in candidate.signature && candidate.signature.headers.includes(header),
  );
  assert.ok(scheme);
  const headers = header === "webhook-signature" ? ["webhook-id"] : [];
  return { scheme, secret: secretOf(""), covers: { body: true, members: [], headers } };
};

const USUAL = {
  id: [],
  type: [],
  preset: null,
  dedupe: "bytes" as const,
  contentTypes: ["application/json", "application/*+json"],
};

test("a signed id does not count where an unsigned one may have been removed", () => {
  const source = { ...USUAL, id: ["header:x-delivery" as const, "body:data.id" as const] };
  const identityOf = (headers: Record<string, string>, payload: Record<string, unknown>) =>
    identify({ source, verified: by("x-signature"), headers, content: contentOf(payload) });
  const payload = { id: "evt_1", type: "push", data: { id: "d" } };
  const usual = identityOf({ "x-delivery": "1" }, payload);
  assert.equal(usual.eventId, "1");
  const removed = identityOf({}, payload);
  assert.deepEqual([removed.eventId, removed.bytesSha256], ["d", usual.bytesSha256]);
  const withoutPlaces = identityOf({}, { id: "evt_1", type: "push" });
  assert.equal(withoutPlaces.eventId, "evt_1");
  assert.notEqual(withoutPlaces.bytesSha256, null);
});

suite("an event's id", () => {
  const headers = { "webhook-id": "w", "x-github-delivery": "g", "x-request-id": "r" };
  const identityOf = (given: Record<string, string>, payload: Record<string, unknown>, scheme = "x-signature") =>
    identify({ source: USUAL, verified: by(scheme), headers: given, content: contentOf(payload) });
  const idOf = (...args: Parameters<typeof identityOf>) => identityOf(...args).eventId;

  test("is webhook-id only if that is signed", () => {
    const standard = identityOf(headers, { id: "evt_1", type: "push" }, "webhook-signature");
    assert.deepEqual([standard.eventId, standard.bytesSha256], ["w", null]);
    assert.equal(idOf(headers, {}), "r");
    assert.equal(idOf(headers, {}, "stripe-signature"), "r");
  });

  test("is otherwise the body's id, if the body also has a type", () => {
    const { eventId, bytesSha256 } = identityOf(headers, { id: "evt_1", type: "push" });
    assert.deepEqual([eventId, bytesSha256], ["evt_1", null]);
  });

  test("is otherwise an unsigned delivery header: GitHub's if its signature verified, else X-Request-ID", () => {
    for (const payload of [
      {},
      { id: "evt_1" },
      { id: 1, type: "push" },
      { id: "", type: "push" },
      { id: "e", type: 1 },
    ]) {
      const { eventId, bytesSha256 } = identityOf(headers, payload, "x-hub-signature-256");
      const digest = createHash("sha256").update(JSON.stringify(payload)).digest("hex");
      assert.deepEqual([eventId, bytesSha256], ["g", digest]);
      assert.equal(idOf(headers, payload), "r");
    }
    assert.equal(idOf({ "x-request-id": "r" }, {}, "x-hub-signature"), "r");
  });

  test("is otherwise a digest of the raw bytes", () => {
    const id = idOf({}, { n: 1 });
    assert.match(id, /^sha256:[0-9a-f]{64}$/);
    assert.equal(idOf({ "webhook-id": "w", "x-github-delivery": "g", "x-request-id": "" }, { n: 1 }), id);
    // Otherwise a captured body could take the id of another body.
    const ofOthers = idOf({}, {});
    assert.equal(idOf({ "x-request-id": ofOthers }, { n: 1 }), id);
    const spaced = openContent(Buffer.from('{"n": 1}'), "application/json");
    const other = identify({ source: USUAL, verified: by("x-signature"), headers: {}, content: spaced });
    assert.notEqual(other.eventId, id);
  });

  test("may not contain U+0000", () => {
    throwsCode("invalid_payload", () => idOf({}, { id: "evt\0", type: "t" }));
    throwsCode("invalid_payload", () => idOf({ "x-request-id": "\0" }, {}));
    throwsCode("invalid_payload", () => idOf({}, { type: "t\0" }));
  });

  test("has at most 512 characters", () => {
    for (const character of ["x", "\u6587", "\u{1F600}"]) {
      const id = character.repeat(512);
      assert.equal(idOf({}, { id, type: "t" }), id);
      throwsCode("invalid_payload", () => idOf({}, { id: id + character, type: "t" }));
    }
    throwsCode("invalid_payload", () => idOf({ "x-request-id": "x".repeat(513) }, {}));
  });

  test("that is not well-formed Unicode is refused or stays distinct on disk", () => {
    const onDisk = new Set<string>();
    const ids = ["\ud800", "\ud801", "\udfff", "\ufffd"];
    let refused = 0;
    for (const id of ids) {
      try {
        onDisk.add(Buffer.from(idOf({}, { id, type: "t" }), "utf8").toString("hex"));
      } catch {
        refused++;
      }
    }
    assert.equal(onDisk.size + refused, ids.length);
  });
});

suite("an event's type", () => {
  const typeOf = (headers: Record<string, string>, payload: Record<string, unknown>) =>
    identify({ source: USUAL, verified: by("x-signature"), headers, content: contentOf(payload) }).type;

  test("is the body's type, else X-Event-Type, else X-GitHub-Event, else unknown", () => {
    const headers = { "x-event-type": "a", "x-github-event": "b" };
    assert.equal(typeOf(headers, { type: "c" }), "c");
    assert.equal(typeOf(headers, {}), "a");
    assert.equal(typeOf({ "x-github-event": "b" }, {}), "b");
    for (const payload of [{}, { type: "" }, { type: 1 }]) assert.equal(typeOf({}, payload), "unknown");
  });

  test("has at most 256 characters", () => {
    assert.equal(typeOf({}, { type: "x".repeat(256) }).length, 256);
    throwsCode("invalid_payload", () => typeOf({}, { type: "x".repeat(257) }));
  });
});

suite("the places of a source", () => {
  const FORM = "application/x-www-form-urlencoded";
  const covering = (covers: Partial<Verified["covers"]>): Verified => ({
    ...by("x-signature"),
    covers: { body: false, members: [], headers: [], ...covers },
  });
  const identityFrom = (
    places: { id?: (IdPlace | "bytes")[]; type?: Place[] },
    verified: Verified,
    content = contentOf({ id: "evt_1", type: "t", data: { id: 7, list: [{ name: "first" }] } }),
  ) =>
    identify({
      source: { ...USUAL, ...places },
      verified,
      headers: { "x-id": "h", "x-topic": "topic", "x-request-id": "r" },
      content,
    });

  test("give id and type, the first place that is there", () => {
    const whole = covering({ body: true });
    const { eventId, type } = identityFrom({ id: ["body:data.none", "body:data.id"], type: ["header:x-topic"] }, whole);
    assert.deepEqual([eventId, type], ["7", "topic"]);
    assert.equal(identityFrom({ id: ["body:data.list.0.name"] }, whole).eventId, "first");
    assert.equal(identityFrom({ id: ["body:data.none"] }, whole).eventId, "evt_1");
    assert.match(identityFrom({ id: ["bytes"] }, whole).eventId, /^sha256:/);
  });

  test("give one id and one type, whatever the Content-Type says, which no signature covers", () => {
    const body = Buffer.from('{ "id": "evt_1", "type": "t", "text": "é&id=evt_2&type=u" }');
    const rounded = Buffer.from('{"id":12345678901234567890,"type":"t","type":"t"}');
    for (const type of [
      "application/json; charset=utf-16le",
      "application/json; charset=utf-16be",
      "application/json; charset=shift_jis",
      "application/json; charset=iso-2022-jp",
      "application/hal+json",
      "application/x-ndjson",
      "text/plain",
      FORM,
      "multipart/form-data; boundary=x",
    ]) {
      const identityOf = (bytes: Buffer) =>
        identityFrom({ id: ["body:id"], type: ["body:type"] }, covering({ body: true }), openContent(bytes, type));
      const { eventId, isSigned, bytesSha256, ...rest } = identityOf(body);
      assert.deepEqual([eventId, isSigned, bytesSha256, rest.type], ["evt_1", true, null, "t"], type);
      assert.equal(identityOf(rounded).eventId, "12345678901234567890", type);
    }
  });

  test("may give an id together, which other parts never make", () => {
    const idOf = (parts: object) =>
      identityFrom({ id: [["body:a", "body:b"], "body:c"] }, covering({ body: true }), contentOf({ c: "c", ...parts }))
        .eventId;
    assert.equal(idOf({ a: "x", b: 7 }), "x:7");
    assert.equal(idOf({ a: "x" }), "c");
    assert.notEqual(idOf({ a: "x:y", b: "z" }), idOf({ a: "x", b: "y:z" }));
  });

  test("are all there is to a preset: an id of its body may be that of a resource", () => {
    const source = { ...USUAL, preset: "acme" };
    const content = contentOf({ id: "evt_1", type: "t" });
    const { eventId, type } = identify({ source, verified: covering({ body: true }), headers: {}, content });
    assert.match(eventId, /^sha256:/);
    assert.equal(type, "t");
  });

  for (const [dedupe, ofSigned, ofUnsigned] of [
    ["bytes", [false, null], [true, null]],
    ["id", [false, null], [false, null]],
    ["off", [false, 0], [false, 0]],
    [300_000, [true, 300_000], [true, 300_000]],
  ] as const) {
    test(`with dedupe ${dedupe}, the bytes count as they should`, () => {
      const answerFor = (covers: Partial<Verified["covers"]>) => {
        const source = { ...USUAL, dedupe, id: ["header:x-id" as const] };
        const { bytesSha256, sameWithinMs } = identify({
          source,
          verified: covering({ body: true, ...covers }),
          headers: { "x-id": "h" },
          content: contentOf({}),
        });
        return [bytesSha256 !== null, sameWithinMs];
      };
      assert.deepEqual(answerFor({ headers: ["x-id"] }), ofSigned);
      assert.deepEqual(answerFor({}), ofUnsigned);
    });
  }

  test("with a signature that says what is one event, its digest counts instead of that of the bytes", () => {
    const digest = "ab".repeat(32);
    const { eventId, bytesSha256 } = identityFrom({ id: ["bytes"] }, { ...covering({ body: true }), digest });
    assert.deepEqual([eventId, bytesSha256], [`sha256:${digest}`, digest]);
  });

  test("with dedupe id, a delivery without any id is known by its bytes", () => {
    const { bytesSha256 } = identify({
      source: { ...USUAL, dedupe: "id" },
      verified: covering({ body: true }),
      headers: {},
      content: contentOf({}),
    });
    assert.notEqual(bytesSha256, null);
  });

  test("with dedupe off, a delivery without any id has the id of its bytes", () => {
    const { eventId, bytesSha256 } = identify({
      source: { ...USUAL, dedupe: "off" },
      verified: covering({ body: true }),
      headers: {},
      content: contentOf({}),
    });
    assert.match(eventId, /^sha256:[0-9a-f]{64}$/);
    assert.equal(bytesSha256, null);
  });

  test("give a signed id only if the signature covers them", () => {
    const isSigned = (place: Place, covers: Partial<Verified["covers"]>) =>
      identityFrom({ id: [place] }, covering(covers)).bytesSha256 === null;
    assert.equal(isSigned("body:data.id", { body: true }), true);
    assert.equal(isSigned("body:data.id", { members: ["data.id"] }), true);
    assert.equal(isSigned("body:data.id", { members: ["data"], headers: ["x-id"] }), false);
    assert.equal(isSigned("header:x-id", { headers: ["x-id"] }), true);
    assert.equal(isSigned("header:x-id", { body: true }), false);
  });

  test("do not give an id of a body that is not signed the form of a digest", () => {
    const content = contentOf({ data: { id: `sha256:${"0".repeat(64)}` } });
    assert.equal(identityFrom({ id: ["body:data.id"] }, covering({}), content).eventId, "r");
  });

  test("may be fields of a form, or of the JSON in its field payload", () => {
    const form = (text: string) => openContent(Buffer.from(text), FORM);
    const places = { id: ["body:data.id"], type: ["body:type"] } satisfies { id: Place[]; type: Place[] };
    const plain = identityFrom(places, covering({ body: true }), form("data.id=a%20b&data.id=second&type=x"));
    assert.deepEqual([plain.eventId, plain.type], ["a b", "x"]);
    const nested = form(`payload=${encodeURIComponent('{"data":{"id":"n"},"type":"y"}')}`);
    const inside = identityFrom(places, covering({ body: true }), nested);
    assert.deepEqual([inside.eventId, inside.type], ["n", "y"]);
  });
});

test("a webhook-id that Hook0 did not list as signed is no signed id", () => {
  const places = providerOf("hook0");
  assert.ok(places?.id);
  const headers = { "x-event-id": "e", "x-event-type": "t" };
  const listed = (names: string[]): Verified => ({
    ...by("x-signature"),
    covers: { body: true, members: [], headers: names },
  });
  const idOf = (names: string[]) =>
    identify({ source: { ...USUAL, id: places.id ?? [] }, verified: listed(names), headers, content: contentOf({}) });
  assert.equal(idOf(["x-event-id"]).bytesSha256, null);
  assert.notEqual(idOf([]).bytesSha256, null);
});
