import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { identify, readPayload } from "../../src/webhook/identity.ts";
import { DEFAULT_SCHEMES } from "../../src/webhook/schemes.ts";
import type { Verified } from "../../src/webhook/signature.ts";
import { throwsCode } from "../helpers/fails-with.ts";

const ENVELOPE = {
  id: "evt_1",
  object: "event",
  api_version: "2026-01-01",
  created: 1_800_000_000,
  data: { object: { id: "pi_1", object: "payment_intent", amount: 100, currency: "eur", status: "succeeded" } },
  livemode: false,
  type: "payment_intent.succeeded",
};

const parse = (value: unknown) => readPayload(Buffer.from(JSON.stringify(value)));

suite("a payload", () => {
  test("that is an envelope is accepted", () => assert.equal(parse(ENVELOPE).id, "evt_1"));

  test('without "object": "event" may be any object', () => {
    for (const value of [{}, { action: "opened", number: 1 }, { object: "other" }, { id: 5, type: null }]) {
      assert.deepEqual(parse(value), { id: undefined, type: undefined });
    }
  });

  for (const value of [null, [], [ENVELOPE], "event", 1, true]) {
    test(`that is ${JSON.stringify(value).slice(0, 10)} is invalid`, () => {
      throwsCode("invalid_payload", () => parse(value));
    });
  }

  for (const text of ["", "{", "{'a':1}", '{"a":1,"a":2}', "\ufeff{}", "a=1&b=2"]) {
    test(`that is not strict JSON (${text}) is invalid`, () => {
      throwsCode("invalid_payload", () => readPayload(Buffer.from(text)));
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
        const error = throwsCode("invalid_payload", () => parse({ ...ENVELOPE, ...changed }));
        assert.equal(error.errors?.length, 1);
        assert.equal(error.errors[0]?.path, path);
      }
    });
  }

  test("that is an envelope needs data to be an object", () => {
    for (const data of [undefined, null, "x", []]) throwsCode("invalid_payload", () => parse({ ...ENVELOPE, data }));
  });
});

suite("a payload that is an envelope of OpenAI", () => {
  const COMPLETE = { id: "evt_1", object: "event", created_at: 1_800_000_000, type: "response.completed", data: {} };

  test("is accepted", () => assert.equal(parse(COMPLETE).id, "evt_1"));

  for (const [path, values] of Object.entries({
    id: [undefined, "", 1],
    type: [undefined, "", 1],
    created_at: ["1800000000", 1.5, null],
    data: [undefined, null, [], "x"],
  })) {
    test(`needs ${path}`, () => {
      for (const value of values) {
        const error = throwsCode("invalid_payload", () => parse({ ...COMPLETE, [path]: value }));
        assert.deepEqual(
          error.errors?.map((found) => found.path),
          [path],
        );
      }
    });
  }

  test("is checked as one of Stripe if it also has created", () => {
    throwsCode("invalid_payload", () => parse({ ...COMPLETE, created: 1_800_000_000 }));
  });
});

/** A delivery verified with the scheme of a header. */
const by = (header: string): Verified => {
  const scheme = DEFAULT_SCHEMES.find((candidate) => candidate.header === header);
  assert.ok(scheme);
  return { scheme, secret: 0, signedHeaders: header === "webhook-signature" ? ["webhook-id"] : [] };
};

suite("an event's id", () => {
  const body = Buffer.from('{"n":1}');
  const headers = { "webhook-id": "w", "x-github-delivery": "g", "x-request-id": "r" };
  const identityOf = (
    given: Record<string, string>,
    payload: Record<string, unknown>,
    scheme = "x-signature",
    bytes: Buffer = body,
  ) => identify(by(scheme), given, parse(payload), bytes);
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
      assert.deepEqual([eventId, bytesSha256], ["g", createHash("sha256").update(body).digest("hex")]);
      assert.equal(idOf(headers, payload), "r");
    }
    assert.equal(idOf({ "x-request-id": "r" }, {}, "x-hub-signature"), "r");
  });

  test("is otherwise a digest of the raw bytes", () => {
    const id = idOf({}, { n: 1 });
    assert.match(id, /^sha256:[0-9a-f]{64}$/);
    assert.equal(idOf({ "webhook-id": "w", "x-github-delivery": "g", "x-request-id": "" }, { n: 1 }), id);
    // Otherwise a captured body could take the id of another body.
    const ofOthers = idOf({}, {}, "x-signature", Buffer.from("{}"));
    assert.equal(idOf({ "x-request-id": ofOthers }, { n: 1 }), id);
    assert.notEqual(idOf({}, { n: 1 }, "x-signature", Buffer.from('{"n": 1}')), id);
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
    identify(by("x-signature"), headers, parse(payload), Buffer.from("{}")).type;

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
