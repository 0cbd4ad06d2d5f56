import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { formatMultipart } from "../../../src/lib/multipart.ts";
import { FORM, openContent } from "../../../src/webhook/content/content.ts";
import type { HeaderItems, SignedRequest } from "../../../src/webhook/signature/signed-text.ts";
import { SORTED_FORM } from "../../../src/webhook/signature/sorted-form.ts";
import { growsLinearly } from "../../helpers/growth.ts";

test("a form has the fields that a browser sends, also without an equals sign", () => {
  const text = "a=1&b&=c&d=&&e=f=g&%61=2&+h&b";
  const { form } = openContent(Buffer.from(text), FORM);
  assert.deepEqual([...form()], [...new URLSearchParams(text)]);
});

test("the time for a form grows with its names, not with their square", () => {
  growsLinearly(1000, (names) => {
    const body = Buffer.from("a&".repeat(names));
    return () => assert.equal([...openContent(body, FORM).form()].length, names);
  });
});

const MULTIPART = "multipart/form-data; boundary=b";

/** A body with a field, and a file that is a picture. */
const withPicture = (name: string, value: string) =>
  Buffer.from(
    `${formatMultipart([[name, value]], "b").slice(0, -"--b--\r\n".length)}--b\r\n` +
      'Content-Disposition: form-data; name="thumb"; filename="t.jpg"\r\n\r\n\x01\x02\r\n--b--\r\n',
  );

suite("the members of a form", () => {
  for (const name of ["payload", "json", "data"]) {
    const text = '{"event":"play","Metadata":{"key":1}}';
    for (const [type, body] of [
      [FORM, Buffer.from(String(new URLSearchParams({ other: "1", [name]: text })))],
      [MULTIPART, withPicture(name, text)],
    ] as const) {
      test(`of the type ${type} are its fields and those of the JSON in ${name}`, () => {
        const { member, form } = openContent(body, type);
        assert.equal(member("event"), "play");
        assert.equal(member("Metadata.key"), 1);
        assert.equal(member(name), text);
        assert.equal(form().get(name), text);
        assert.equal(member("missing"), undefined);
      });
    }
  }

  test("are fields before members of the JSON, so that a signature of a field covers what is read", () => {
    const { member } = openContent(Buffer.from("payload=%7B%22id%22%3A1%7D&id=2"), FORM);
    assert.equal(member("id"), "2");
  });

  test("are those of the JSON that is sent as a form", () => {
    assert.equal(openContent(Buffer.from('{"a":{"b":"&=1"}}'), FORM).member("a.b"), "&=1");
    assert.equal(openContent(Buffer.from('[{"b":1}]'), FORM).member("0.b"), 1);
  });

  test("are those of that JSON only, of which no text counts as a field", () => {
    const text = '{"id":"evt_1","text":"&id=evt_2&payload=1"}';
    for (const type of [FORM, MULTIPART]) {
      const content = openContent(Buffer.from(text), type);
      assert.deepEqual([...content.form()], []);
      assert.deepEqual([content.member("id"), content.lenientMember("payload")], ["evt_1", undefined]);
      assert.equal(SORTED_FORM.read({ content } as SignedRequest, {} as HeaderItems), null);
    }
  });

  test("are the name and the size of a file, and not what is in it", () => {
    const { member, form } = openContent(withPicture("a", "1"), MULTIPART);
    assert.deepEqual([member("thumb.filename"), member("thumb.size")], ["t.jpg", 2]);
    assert.equal(form().get("thumb"), null);
  });

  test("are none in malformed parts, whose bytes are kept", () => {
    const bytes = Buffer.from("--b\r\nContent-Disposition: form-data");
    const content = openContent(bytes, MULTIPART);
    assert.equal(content.member("a"), undefined);
    assert.deepEqual([...content.form()], []);
    assert.equal(content.bytes, bytes);
  });

  test("are none in a form with more fields than anybody sends", () => {
    const content = openContent(Buffer.from(`a=1&${"b&".repeat(10_000)}`), FORM);
    assert.deepEqual(
      [content.member("a"), content.form().size, content.unreadShape()],
      [undefined, 0, "too_many_fields"],
    );
    assert.equal(openContent(Buffer.from(`a=1&${"b&".repeat(9000)}`), FORM).member("a"), "1");
  });
});
